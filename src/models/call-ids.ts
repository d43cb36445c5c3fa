import type { Delta, Message, ReplyPart } from './conversation.ts'

/**
 * The ids of a conversation's calls. Some models count their calls from zero in each reply, or give two calls of a reply the same
 * id, but clients find the result of a call by its id alone, and some vendors refuse a conversation in which one occurs twice.
 */
export interface CallIds {
  /** Returns the id of one more call: this one, or one derived from it if another call has it. */
  add(id: string): string
}

export function createCallIds(): CallIds {
  const used = new Set<string>()
  /** By id: the number for its next repetition. */
  const next = new Map<string, number>()
  return {
    add(id) {
      let unique = id
      let number = next.get(id) ?? 2
      while (used.has(unique)) unique = `${id}_${number++}`
      if (unique !== id) next.set(id, number)
      used.add(unique)
      return unique
    },
  }
}

/** The calls of one reply. */
export interface ReplyCallIds {
  /** The parts of a whole reply, with ids that no other call of the conversation has. */
  inParts(parts: readonly ReplyPart[]): readonly ReplyPart[]
  /** The next pieces of a streamed reply, in the same way. */
  inDeltas(deltas: readonly Delta[]): readonly Delta[]
}

/** `messages` is the conversation before the reply. */
export function createReplyCallIds(messages: readonly Message[]): ReplyCallIds {
  let ids: CallIds | undefined

  function renamed<Each extends ReplyPart | Delta>(each: Each): Each {
    if (each.kind !== 'call') return each
    // Most replies have no calls.
    ids ??= idsOf(messages)
    const id = ids.add(each.id)
    return id === each.id ? each : { ...each, id }
  }

  return { inParts: (parts) => parts.map(renamed), inDeltas: (deltas) => deltas.map(renamed) }
}

function idsOf(messages: readonly Message[]): CallIds {
  const ids = createCallIds()
  for (const { parts = [] } of messages) for (const part of parts) if (part.kind === 'call') ids.add(part.id)
  return ids
}
