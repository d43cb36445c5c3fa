import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Command } from 'commander'
import { pino, type Logger } from 'pino'
import { parseMoney } from '../billing/money.ts'
import type { Config } from '../platform/config.ts'
import { OperatorError } from '../platform/problems.ts'
import type { Service } from '../service.ts'
import { command } from './command.ts'
import type { Context } from './context.ts'

export function startCommand(context: Context): Command {
  return command('start', 'Run the service until it gets SIGTERM or SIGINT.', 'start').action(async () => {
    const config = await context.config()
    await assertPortFree(config)
    await using opened = new AsyncDisposableStack()
    const log = openLog(opened)
    const databaseUrl = await context.databaseUrl(log)
    const { openService } = await import('../service.ts')
    const service = opened.adopt(await openService({ config, databaseUrl, log }), (it) => it.close())
    await listen(service, config)
    context.stdout.write(await greeting(service, config))
    await stopSignal(log)
  })
}

/**
 * Lines for machines on stderr; stdout is for people. Lines that nobody reads are dropped rather than gathered without
 * end, and once all is closed they do not keep the process from ending.
 */
function openLog(opened: AsyncDisposableStack): Logger {
  let wanted = true
  const lines = pino.destination({
    dest: 2,
    sync: false,
    // A write for every request would be a tenth of what a request costs.
    minLength: 4096,
    periodicFlush: 200,
    maxLength: 1 << 20,
    retryEAGAIN: () => wanted,
  })
  lines.on('error', () => undefined)
  opened.defer(() => {
    wanted = false
  })
  return pino({ base: null }, lines)
}

/** Before anything is opened, so that a second start leaves nothing half-made. */
async function assertPortFree({ listen: { host, port } }: Config): Promise<void> {
  const probe = createServer()
  try {
    probe.listen(port, host)
    await once(probe, 'listening')
    probe.close()
    await once(probe, 'close')
  } catch (error) {
    throw notListening(error, host, port)
  }
}

async function listen({ app }: Service, { listen: { host, port } }: Config): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw notListening(error, host, port)
  }
}

function notListening(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE')
    return new OperatorError(`Port ${port} on ${host} is in use. Stop what uses it, or set PORT to another.`)
  if (code === 'EACCES')
    return new OperatorError(
      `Port ${port} on ${host} needs privileges that this user does not have. Set PORT to another.`,
    )
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new OperatorError(`This machine has no address ${host}. Set HOST to one it has, 127.0.0.1 for instance.`)
  return error
}

/** Resolves at the first SIGTERM or SIGINT. A second one ends the process at once. */
async function stopSignal(log: Logger): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve)
  })
  log.info({ signal }, 'stopping: requests in flight finish, new ones are refused')
  process.once('SIGTERM', abandon).once('SIGINT', abandon)
}

const abandon = (): never => process.exit(1)

/** What a person sees once the service is ready. The first start makes an account to try it with. */
async function greeting(service: Service, config: Config): Promise<string> {
  const key = await firstKey(service, config)
  const model = Object.keys(config.aliases)[0] ?? config.models[0]?.id ?? 'MODEL'
  const lines = [
    '',
    `Tollgate is ready at ${config.base_url}`,
    `The API is described at ${config.base_url}/docs`,
    '',
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

async function firstKey({ accounts, keys }: Service, { demo, limits }: Config): Promise<string | undefined> {
  if (!demo || (await accounts.list()).length > 0) return undefined
  const account = await accounts.create({
    name: 'Demo',
    requestsPerMinute: limits.requests_per_minute,
    tokensPerMinute: limits.tokens_per_minute,
    credit: parseMoney('10.00'),
  })
  const { key } = await keys.create({ accountId: account.id, name: 'first', allowedModels: null, expiresAt: null })
  return key
}

/** As it stands it works in a POSIX shell: the JSON has no single quote in it. */
function curl(baseUrl: string, key: string, model: string): string[] {
  const body = {
    model,
    instructions: 'Draft a letter to the client from these notes.',
    input:
      'Meeting on 12 March 2026 with Anna Berg of Berg & Sons. We agreed a fixed fee of $4,800 for the annual accounts. She sends the bank statements by 30 March.',
    max_output_tokens: 220,
  }
  return [
    `curl ${baseUrl}/v1/generate \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(body)}'`,
  ]
}
