import { byService } from '../../access/actor.ts'
import { parseMoney } from '../../billing/prices/money.ts'
import { demoMailPage, isSampleAccount, whoMaySignIn } from '../../demo/demo.ts'
import { faultOfPrinting } from '../../documents/print/printed-settings.ts'
import { faultOfDrafting } from '../../drafting/drafting.ts'
import { isDemo, type Config } from '../../platform/config/config.ts'
import type { Service } from '../../service.ts'
import { formatFor } from '../output/format.ts'
import { jsonOf } from '../output/output.ts'
import { lockFirstAccount } from '../store.ts'

/** What the demo's accounts can spend. */
const firstCredit = '10'

interface GreetingNeeds {
  readonly settings: Config
  readonly config?: Config
  readonly json?: boolean
}

/**
 * The message that `start` prints once the service is ready. With the demo, the first start creates an account and a
 * key. `settings` is the configuration without what the demo adds, `config` the one with it. With `json`, the message is
 * one JSON document.
 */
export async function greeting(
  service: Service,
  { settings, config = settings, json = false }: GreetingNeeds,
): Promise<string> {
  const key = await firstKey(service, settings, config)
  const found = [await faultOfDrafting(config, service.accounts), await faultOfPrinting(config)]
  const faults = found.filter((fault) => fault !== null)
  if (json) {
    const { base_url: url } = config
    return `${jsonOf({ url, docs: `${url}/docs`, key: key ?? null, warning: faults.join(' ') || null })}\n`
  }
  const { money } = await formatFor({ config: async () => config })
  const model = Object.keys(config.aliases)[0] ?? config.models[0]?.id ?? 'MODEL'
  const lines = [
    '',
    `Tollgate is ready at ${config.base_url}`,
    `The API is described at ${config.base_url}/docs`,
    '',
    ...(await portal(service, settings, config)),
    ...(key === undefined
      ? ['Create a key:  ./tollgate key create --account NAME --name backend', '']
      : [`The account Demo has ${money(firstCredit)} of credit. Its key is shown only this once:`, '', `  ${key}`, '']),
    ...faults.flatMap((fault) => [`Warning: ${fault}`, '']),
    'Try it:',
    '',
    ...curl(config.base_url, key ?? '$TOLLGATE_KEY', model).map((line) => `  ${line}`),
    '',
    '',
  ]
  return lines.join('\n')
}

/** The people of the demo, who can sign in without a password. */
async function portal({ people }: Service, settings: Config, config: Config): Promise<string[]> {
  if (!isDemo(settings)) return []
  const mail = demoMailPage(config, settings)
  const known = await whoMaySignIn(people)
  if (known.length === 0)
    return [
      'No one can sign in: this database has no people of the demo. Configure a provider in sign_in.providers.',
      '',
    ]
  const width = Math.max(...known.map(({ name }) => name.length))
  return [
    'Open it in a browser on this machine and sign in without a password as one of:',
    '',
    ...known.map(({ name, role }) => `  ${name.padEnd(width)}  ${role}`),
    '',
    ...(mail === undefined ? [] : [`The demo sends no mail. Read what it would send at ${mail}`, '']),
    'For evaluation only: anyone on this machine can sign in as any of them. TOLLGATE_DEMO=0 turns this off.',
    '',
  ]
}

/** If several instances start on an empty database, only the first creates the account. */
async function firstKey(service: Service, settings: Config, config: Config): Promise<string | undefined> {
  if (!settings.demo) return undefined
  return service.database.transaction(async (tx) => {
    await lockFirstAccount(tx)
    const isFirst = (await service.accounts.list()).every(isSampleAccount)
    if (settings.drafting === undefined && config.drafting)
      await createOwnAccount(service, config, config.drafting.account)
    return isFirst ? createKey(service, settings) : undefined
  })
}

/** The account that pays for the demo's drafts. */
async function createOwnAccount({ accounts }: Service, { limits }: Config, name: string): Promise<void> {
  const known = (await accounts.list()).some((account) => account.name === name)
  if (known) return
  await accounts.create(
    {
      name,
      own: true,
      requestsPerMinute: limits.requests_per_minute,
      tokensPerMinute: limits.tokens_per_minute,
      credit: parseMoney(firstCredit),
    },
    byService,
  )
}

async function createKey({ accounts, keys }: Service, { limits }: Config): Promise<string> {
  const account = await accounts.create(
    {
      name: 'Demo',
      requestsPerMinute: limits.requests_per_minute,
      tokensPerMinute: limits.tokens_per_minute,
      credit: parseMoney(firstCredit),
    },
    byService,
  )
  const { key } = await keys.create(
    { accountId: account.id, name: 'first', allowedModels: null, expiresAt: null },
    byService,
  )
  return key
}

/** Works in a POSIX shell: the JSON has no single quote. */
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
