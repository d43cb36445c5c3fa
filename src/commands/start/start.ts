import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { loadDemo, openDemo } from '../../demo/demo.ts'
import { ownAddress, type Config } from '../../platform/config/config.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { openLog } from '../../platform/log/log.ts'
import { command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { connectionsPerProcess, faultOfClock, faultOfConnections } from '../doctor/database.ts'
import { readMostConnections } from '../store.ts'
import { greeting } from './greeting.ts'
import { permitNewCurrency, permitNewEncryptionKey } from './permits.ts'
import { endAtDeadline } from './stop-deadline.ts'

export function startCommand(context: Context): Command {
  return command('start', 'Run the service until it receives SIGTERM, SIGINT or SIGHUP', 'start')
    .option(
      '--new-encryption-key',
      'use a different encryption key: data encrypted with the previous key can no longer be read',
    )
    .option('--new-currency', 'use a different currency: amounts are not converted')
    .action(async ({ json, newEncryptionKey, newCurrency }: StartOptions) => {
      const settings = await withPort(await context.config())
      await using opened = new AsyncDisposableStack()
      const { log } = opened.adopt(openLog(), (it) => it.close())
      // Some are for commands.
      const connections = Math.max(100, connectionsPerProcess * settings.listen.processes + 40)
      // Before anything starts, so that stopping a start leaves no database server behind.
      const signals = watchSignals(log)
      const { stop } = signals
      // The demo's provider starts while the database does, and is closed even if the database does not start.
      const opening = openDemo(settings, log)
      const begun = opening.catch(() => undefined)
      opened.defer(async () => (await begun)?.close())
      // Ignore failures once stopping: Ctrl-C reaches our children too.
      const unlessStopped = (error: unknown): undefined => {
        if (!stop.aborted) throw error
      }
      const databaseUrl = await context.databaseUrl({ log, signal: stop, connections }).catch(unlessStopped)
      const demo = await opening.catch(unlessStopped)
      if (databaseUrl === undefined || stop.aborted) return
      const needs = { config: demo?.config ?? settings, settings, json: json === true, databaseUrl, log, stop }
      const begin = async (): Promise<RunningService> => {
        if (newEncryptionKey) await permitNewEncryptionKey(needs)
        if (newCurrency) await permitNewCurrency({ ...needs, currency: settings.currency })
        return settings.listen.processes === 1 ? runAlone(needs) : runWorkers(needs)
      }
      const running = await begin().catch(unlessStopped)
      if (running === undefined) return
      opened.defer(() => running.close())
      if (stop.aborted) return
      signals.onLeave(settings.listen.drain_delay, () => running.leave())
      context.stdout.write(running.greeting)
      await Promise.all([once(stop, 'abort'), warnOfDatabase(needs)])
    })
}

interface StartOptions extends CommonOptions {
  readonly newEncryptionKey?: true
  readonly newCurrency?: true
}

interface RunNeeds {
  readonly config: Config
  /** Without the provider of the demo. */
  readonly settings: Config
  /** Whether the greeting is a JSON document. */
  readonly json: boolean
  readonly databaseUrl: string
  readonly log: Logger
  readonly stop: AbortSignal
}

interface RunningService {
  readonly greeting: string
  leave(): void
  close(): Promise<void>
}

async function runAlone({ settings, json, ...needs }: RunNeeds): Promise<RunningService> {
  const { serve } = await import('./serve.ts')
  const { config } = needs
  const service = await serve(needs, (opened) => loadDemo(settings, { ...opened, ...needs }))
  try {
    return {
      greeting: await greeting(service, { settings, config, json }),
      leave: () => service.leave(),
      close: () => service.close(),
    }
  } catch (error) {
    await service.close()
    throw error
  }
}

/** Logs what will fail under load or at the turn of a month. The service itself reports a database that is away. */
async function warnOfDatabase({ settings, databaseUrl, log }: RunNeeds): Promise<void> {
  const database = openDatabase(databaseUrl, { log, connections: 1 })
  try {
    const most = await readMostConnections(database)
    for (const fault of [await faultOfClock(database), faultOfConnections(most, settings.listen.processes)]) {
      if (fault !== undefined) log.warn(fault)
    }
  } catch {
    return
  } finally {
    await database.close()
  }
}

/** Migrates once, then starts the workers. */
async function runWorkers({ config, settings, json, databaseUrl, log, stop }: RunNeeds): Promise<RunningService> {
  const { migrate } = await import('../../platform/database/migrations.ts')
  await migrate(databaseUrl, { stop, onWait: (line) => log.warn(line) })
  const { startWorkers } = await import('./supervisor.ts')
  return startWorkers({ order: { config, databaseUrl }, setUp: { settings, json }, log, stop })
}

/**
 * The configuration with port 0 replaced by a free port, so that every address in it is right. Probes the port before
 * anything is opened, so that a second start leaves nothing half-done.
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
    const { listenFault } = await import('./serve.ts')
    throw listenFault(error, host, port)
  }
}

interface Signals {
  /** Aborts when the service must stop. */
  readonly stop: AbortSignal
  /** From now on, SIGTERM calls `leave`, and stops the service only `delay` ms later, or at the next signal. */
  onLeave(delay: number, leave: () => void): void
}

/** Handles SIGTERM, SIGINT and SIGHUP. While the service stops, another SIGTERM or SIGINT ends the process at once. */
function watchSignals(log: Logger): Signals {
  const stop = new AbortController()
  let leaving: { readonly delay: number; leave(): void } | undefined
  let timer: NodeJS.Timeout | undefined
  const begin = (signal: NodeJS.Signals): void => {
    clearTimeout(timer)
    log.info({ signal }, 'stopping: requests in flight finish, new ones are refused')
    stop.abort()
    endAtDeadline(log)
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    // When a terminal closes, both the kernel and the shell may send SIGHUP.
    if (stop.signal.aborted) return signal === 'SIGHUP' ? undefined : process.exit(1)
    if (signal !== 'SIGTERM' || leaving === undefined || timer !== undefined) return begin(signal)
    log.info({ signal, ms: leaving.delay }, 'leaving: /readyz is 503, and everything is served until the service stops')
    leaving.leave()
    timer = setTimeout(begin, leaving.delay, signal)
  }
  // Never removed: a signal without a listener kills.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  return {
    stop: stop.signal,
    onLeave(delay, leave) {
      if (delay > 0) leaving = { delay, leave }
    },
  }
}
