import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { endOf } from '../platform/system/child-end.ts'
import { settingsOf, type ProviderOrder, type ProviderSettings } from './provider-settings.ts'

/** The demo's provider, as the service sees it. */
export interface RunningProvider {
  readonly settings: ProviderSettings
  readonly pid: () => number | undefined
  close(): Promise<void>
}

export interface RunningProviderNeeds extends Pick<ProviderOrder, 'baseUrl' | 'port'> {
  readonly log: Logger
}

/** ms before a provider that has exited is restarted. */
const pause = 1000

/**
 * Starts the provider in its own process, so that the service does not load its 20 MB. If it exits, it is restarted at the
 * same address and has forgotten its sign-ins. It exits with this process, however that happens.
 */
export async function startDemoProvider({ baseUrl, port, log }: RunningProviderNeeds): Promise<RunningProvider> {
  const clientSecret = randomBytes(32).toString('base64url')
  let isClosing = false
  let current = begin({ baseUrl, port, clientSecret })
  const issuer = await current.issuer
  if (issuer === undefined) throw new Error(`the demo's provider did not start: ${await current.ended}`)
  const again = { baseUrl, port: Number(new URL(issuer).port), clientSecret }

  async function keep(): Promise<void> {
    for (;;) {
      const reason = await current.ended
      if (isClosing) return
      log.error({ reason }, 'the demo provider exited and is being restarted')
      await wait(pause)
      if (isClosing) return
      current = begin(again)
      // At another address, nobody would find it.
      if ((await current.issuer) !== issuer) current.kill()
    }
  }
  const kept = keep()
  return Object.freeze({
    settings: settingsOf(issuer, clientSecret),
    pid: () => current.pid,
    async close() {
      isClosing = true
      current.kill()
      await kept
    },
  })
}

/** One process. `issuer` is undefined if it exited before it listened; `ended` says how. Neither rejects. */
function begin(order: ProviderOrder) {
  const child = fork(fileURLToPath(new URL('provider-child.ts', import.meta.url)), {
    // The flags of this process are for the service.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = endOf(child)
  const listening = once(child, 'message').then(([message]: unknown[]) => issuerIn(message))
  child.send(order, () => {})
  return {
    pid: child.pid,
    issuer: Promise.race([listening.catch(() => undefined), ended.then(() => undefined)]),
    ended,
    kill: () => void child.kill('SIGKILL'),
  }
}

function issuerIn(message: unknown): string | undefined {
  const issuer = typeof message === 'object' && message !== null && 'issuer' in message ? message.issuer : undefined
  return typeof issuer === 'string' ? issuer : undefined
}
