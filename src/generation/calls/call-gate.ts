import type { Delta } from '../../models/conversation.ts'

/** Decides which pieces of a stream's calls its caller may receive. */
export interface CallGate {
  /** What may be passed on, once these have arrived. */
  take(deltas: readonly Delta[]): readonly Delta[]
  /** What was kept back, for when something else follows or the reply is complete. */
  rest(): readonly Delta[]
}

/**
 * Keeps the beginning of a call back until its arguments begin. Clients take a call without arguments for a whole one and run its
 * tool, whatever the reply's stop reason is, but a model that is cut off after a tool's name has not finished its call.
 */
export function createCallGate(): CallGate {
  let begun: readonly Delta[] = []
  return {
    take(deltas) {
      if (begun.length === 0 && deltas.at(-1)?.kind !== 'call') return deltas
      const all = [...begun, ...deltas]
      const end = all.at(-1)?.kind === 'call' ? -1 : all.length
      begun = all.slice(end)
      return all.slice(0, end)
    },
    rest() {
      const rest = begun
      begun = []
      return rest
    },
  }
}
