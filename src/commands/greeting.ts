import { byService } from '../access/actor.ts'
import { parseMoney } from '../billing/money.ts'
import { isDemo, whoMaySignIn } from '../demo/demo.ts'
import type { Config } from '../platform/config/config.ts'
import type { Service } from '../service.ts'
import { lockFirstAccount } from './greeting-store.ts'

/** What a person sees once the service is ready. The first start makes an account to try it with. */
export async function greeting(service: Service, config: Config): Promise<string> {
  const key = await firstKey(service, config)
  const model = Object.keys(config.aliases)[0] ?? config.models[0]?.id ?? 'MODEL'
  const lines = [
    '',
    `Tollgate is ready at ${config.base_url}`,
    `The API is described at ${config.base_url}/docs`,
    '',
    ...(await portal(service, config)),
    ...(key === undefined
      ? ['Keys are shown once, when they are made:  ./tollgate key create --account NAME --name backend', '']
      : [
          `The account Demo was made, with 10.00 ${config.currency} of credit. Its key is shown this once:`,
          '',
          `  ${key}`,
          '',
        ]),
    'Try it:',
    '',
    ...curl(config.base_url, key ?? '$TOLLGATE_KEY', model).map((line) => `  ${line}`),
    '',
    '',
  ]
  return lines.join('\n')
}

/** Who can sign in, where that is known. */
async function portal({ people }: Service, config: Config): Promise<string[]> {
  if (!isDemo(config)) return []
  const known = await whoMaySignIn(people)
  if (known.length === 0) return ['Nobody of the demo is in this database: name a provider in sign_in.providers.', '']
  const width = Math.max(...known.map(({ name }) => name.length))
  return [
    'Open it in a browser of this machine and sign in, without a password, as one of',
    '',
    ...known.map(({ name, role }) => `  ${name.padEnd(width)}  ${role}`),
    '',
    'For trying out only: whoever uses this machine can be any of them. TOLLGATE_DEMO=0 turns it off.',
    '',
  ]
}

/** Of several that start at once on an empty database, the first makes the account. */
async function firstKey(service: Service, config: Config): Promise<string | undefined> {
  if (!config.demo) return undefined
  return service.database.transaction(async (tx) => {
    await lockFirstAccount(tx)
    return (await service.accounts.list()).length > 0 ? undefined : makeKey(service, config)
  })
}

async function makeKey({ accounts, keys }: Service, { limits }: Config): Promise<string> {
  const account = await accounts.create(
    {
      name: 'Demo',
      requestsPerMinute: limits.requests_per_minute,
      tokensPerMinute: limits.tokens_per_minute,
      credit: parseMoney('10.00'),
    },
    byService,
  )
  const { key } = await keys.create(
    { accountId: account.id, name: 'first', allowedModels: null, expiresAt: null },
    byService,
  )
  return key
}

/** As it stands it works in a POSIX shell: the JSON has no single quote in it. */
function curl(baseUrl: string, key: string, model: string): string[] {
  const body = {
    model,
    instructions: 'Draft a letter to the client from these notes.',
    input:
      'Meeting on 12 March 2026 with Anna Berg of Berg & Sons about the annual accounts. We agreed on a fixed fee of $4,800. She sends the bank statements by 30 March.',
    max_output_tokens: 220,
  }
  return [
    `curl ${baseUrl}/v1/generate \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(body)}'`,
  ]
}
