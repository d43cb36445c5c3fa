import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { endOf } from '../platform/system/child-end.ts'
import { settingsOf, type ProviderOrder, type ProviderSettings } from './provider-settings.ts'

/** The provider of the demo, as the service sees it. */
export interface RunningProvider {
  readonly settings: ProviderSettings
  readonly pid: () => number | undefined
  close(): Promise<void>
}

export interface RunningProviderNeeds extends Pick<ProviderOrder, 'baseUrl' | 'port'> {
  readonly log: Logger
}

/** Milliseconds before a provider that ended is started again. */
const pause = 1000

/**
 * Starts the provider in a process of its own, as any other is: 20 MB that are none of the service's. Where it ends, it
 * is started again at the same address, and only its own sign-ins are forgotten. It ends with this process, however this
 * one ends.
 */
export async function startDemoProvider({ baseUrl, port, log }: RunningProviderNeeds): Promise<RunningProvider> {
  const clientSecret = randomBytes(32).toString('base64url')
  let isClosing = false
  let current = begin({ baseUrl, port, clientSecret })
  const issuer = await current.issuer
  if (issuer === undefined) throw new Error(`the provider of the demo did not start: ${await current.ended}`)
  const again = { baseUrl, port: Number(new URL(issuer).port), clientSecret }

  async function keep(): Promise<void> {
    for (;;) {
      const reason = await current.ended
      if (isClosing) return
      log.error({ reason }, 'the provider of the demo ended and is started again')
      await wait(pause)
      if (isClosing) return
      current = begin(again)
      // In another place nobody would find it.
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

/** One process. `issuer` is undefined where it ended before it had one; `ended` tells how. Neither rejects. */
function begin(order: ProviderOrder) {
  const child = fork(fileURLToPath(new URL('provider-child.ts', import.meta.url)), {
    // The flags of this process are for what the service does.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = endOf(child)
  const told = once(child, 'message').then(([message]: unknown[]) => issuerIn(message))
  child.send(order, () => {})
  return {
    pid: child.pid,
    issuer: Promise.race([told.catch(() => undefined), ended.then(() => undefined)]),
    ended,
    kill: () => void child.kill('SIGKILL'),
  }
}

function issuerIn(message: unknown): string | undefined {
  const issuer = typeof message === 'object' && message !== null && 'issuer' in message ? message.issuer : undefined
  return typeof issuer === 'string' ? issuer : undefined
}
