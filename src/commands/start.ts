import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { openDemo } from '../demo/demo.ts'
import { ownAddress, type Config } from '../platform/config/config.ts'
import { openLog } from '../platform/log.ts'
import { OperatorError } from '../platform/problems.ts'
import type { Service } from '../service.ts'
import { command } from './command.ts'
import type { Context } from './context.ts'
import { greeting } from './greeting.ts'

export function startCommand(context: Context): Command {
  return command('start', 'Run the service until it gets SIGTERM, SIGINT or SIGHUP.', 'start').action(async () => {
    const settings = await withPort(await context.config())
    await using opened = new AsyncDisposableStack()
    const { log } = opened.adopt(openLog(), (it) => it.close())
    // From here on: who stops a start is not to leave a database server behind.
    const stop = stopSignal(log)
    // The provider of the demo starts while the database does, and is closed also where the database does not start.
    const opening = openDemo(settings, log)
    const begun = opening.catch(() => undefined)
    opened.defer(async () => (await begun)?.close())
    // What fails from then on fails of the stop: on a terminal, the processes beside this one are told as well.
    const unlessStopped = (error: unknown): void => {
      if (!stop.aborted) throw error
    }
    const databaseUrl = await context.databaseUrl({ log, signal: stop }).catch(unlessStopped)
    const demo = await opening.catch(unlessStopped)
    if (databaseUrl === undefined || stop.aborted) return
    const config = demo?.config ?? settings
    const { openService } = await import('../service.ts')
    const service = opened.adopt(await openService({ config, databaseUrl, log }), (it) => it.close())
    await demo?.load({ ...service, databaseUrl, log })
    if (stop.aborted) return
    await listen(service, config)
    context.stdout.write(await greeting(service, settings))
    if (!stop.aborted) await once(stop, 'abort')
  })
}

/**
 * The configuration with the port that is free now where it asks for any, so that every address in it is true. Looks
 * before anything is opened, so that a second start leaves nothing half-made.
 */
async function withPort(config: Config): Promise<Config> {
  const { host, port } = config.listen
  const probe = createServer()
  try {
    await once(probe.listen(port, host), 'listening')
    const address = probe.address()
    probe.close()
    await once(probe, 'close')
    if (port !== 0 || address === null || typeof address === 'string') return config
    const { base_url: baseUrl, listen: place } = config
    const url = baseUrl === ownAddress(host, 0) ? ownAddress(host, address.port) : baseUrl
    return Object.freeze({ ...config, base_url: url, listen: Object.freeze({ ...place, port: address.port }) })
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

/** Aborted at the first signal to stop; the end of the terminal is one. A second SIGTERM or SIGINT ends the process at once. */
function stopSignal(log: Logger): AbortSignal {
  const stop = new AbortController()
  const told = (signal: NodeJS.Signals): void => {
    if (!stop.signal.aborted) {
      log.info({ signal }, 'stopping: requests in flight finish, new ones are refused')
      stop.abort()
      // When a terminal ends, its shell tells everybody what the system has told them already.
    } else if (signal !== 'SIGHUP') process.exit(1)
  }
  // For good: while a signal has no listener, it kills.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, told)
  return stop.signal
}
