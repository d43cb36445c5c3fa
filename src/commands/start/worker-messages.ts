import type { Config } from '../../platform/config/config.ts'

/** A message from the supervisor to a worker. */
export type ToWorker =
  | ServeOrder
  | { readonly kind: 'leave' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'echo' }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }

export interface ServeOrder {
  readonly kind: 'serve'
  readonly config: Config
  readonly databaseUrl: string
  /** Only for the first worker, which loads the samples and makes the greeting. */
  readonly setUp?: { readonly settings: Config; readonly json: boolean }
}

/** A message from a worker to the supervisor. */
export type ToSupervisor =
  | { readonly kind: 'ready'; readonly greeting?: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly known: boolean }
  /** Returned as it is, after the connections that the supervisor has accepted. */
  | { readonly kind: 'echo' }
  | { readonly kind: 'metrics'; readonly id: number }

const toSupervisor = ['ready', 'failed', 'echo', 'metrics']
const toWorker = ['serve', 'leave', 'stop', 'echo', 'metrics']

/** Node and the metrics library use the same channel. */
export function isToSupervisor(message: unknown): message is ToSupervisor {
  return hasKind(message, toSupervisor)
}

export function isToWorker(message: unknown): message is ToWorker {
  return hasKind(message, toWorker)
}

function hasKind(message: unknown, kinds: readonly string[]): boolean {
  return typeof message === 'object' && message !== null && 'kind' in message && kinds.includes(String(message.kind))
}
