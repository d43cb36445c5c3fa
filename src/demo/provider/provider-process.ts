import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { endOf } from '../../platform/system/processes.ts'
import { settingsOf, type ProviderOrder, type ProviderSettings } from './provider-settings.ts'

/** The demo's provider, as the service sees it. */
export interface RunningProvider {
  readonly settings: ProviderSettings
  /** The port of the demo's mail server. */
  readonly mailPort: number
  readonly pid: () => number | undefined
  close(): Promise<void>
}

export interface RunningProviderNeeds extends Pick<ProviderOrder, 'baseUrl' | 'port' | 'mailPort'> {
  readonly log: Logger
}

/** ms before a provider that has exited is restarted. */
const pause = 1000

/**
 * Starts the provider in its own process, so that the service does not load its 20 MB. If it exits, it is restarted at the
 * same address and has forgotten its sign-ins. It exits with this process, however that happens.
 */
export async function startDemoProvider({
  baseUrl,
  port,
  mailPort,
  log,
}: RunningProviderNeeds): Promise<RunningProvider> {
  const clientSecret = randomBytes(32).toString('base64url')
  let isClosing = false
  let current = begin({ baseUrl, port, mailPort, clientSecret })
  const first = await current.place
  if (first === undefined) throw new Error(`the demo's provider did not start: ${await current.ended}`)
  const { issuer, mailPort: mailsAt } = first
  const again = { baseUrl, port: Number(new URL(issuer).port), mailPort: mailsAt, clientSecret }

  async function keep(): Promise<void> {
    for (;;) {
      const reason = await current.ended
      if (isClosing) return
      log.error({ reason }, 'the demo provider exited and is being restarted')
      await wait(pause)
      if (isClosing) return
      current = begin(again)
      // At another address, nobody would find it.
      const next = await current.place
      if (next?.issuer !== issuer || next.mailPort !== mailsAt) current.kill()
    }
  }
  const kept = keep()
  return Object.freeze({
    settings: settingsOf(issuer, clientSecret),
    mailPort: mailsAt,
    pid: () => current.pid,
    async close() {
      isClosing = true
      current.kill()
      await kept
    },
  })
}

/** Where a provider listens. */
interface Place {
  readonly issuer: string
  readonly mailPort: number
}

/** One process. `place` is undefined if it exited before it listened; `ended` says how. Neither rejects. */
function begin(order: ProviderOrder) {
  const child = fork(fileURLToPath(new URL('provider-child.ts', import.meta.url)), {
    // The flags of this process are for the service.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = endOf(child)
  const listening = once(child, 'message').then(([message]: unknown[]) => (isPlace(message) ? message : undefined))
  child.send(order, () => {})
  return {
    pid: child.pid,
    place: Promise.race([listening.catch(() => undefined), ended.then(() => undefined)]),
    ended,
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Both ends run the same version of this program, so one field settles the rest. */
function isPlace(message: unknown): message is Place {
  return typeof message === 'object' && message !== null && 'issuer' in message
}
