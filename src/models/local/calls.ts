import { createInbox } from './inbox.ts'
import type { CallMessage, RunText } from './protocol.ts'

/** What a call gets from the child, or `gone` when the child ended first. */
export type EngineAnswer = CallMessage | TextSoFar | { readonly kind: 'gone' }

/** RunText of a run, and the tokens that it has had by then. */
export interface TextSoFar {
  readonly kind: 'text'
  readonly text: string
  readonly inputTokens: number
  readonly outputTokens: number
}

/** One question to the child. Disposing of it forgets it; what still comes for it is dropped. */
export interface Call extends Disposable {
  readonly id: number
  next(): Promise<EngineAnswer>
  /** Whether its last answer has come. */
  isOver(): boolean
}

/** All calls under way, by the id that the child knows them by. */
export interface Calls {
  open(): Call
  readonly take: (message: CallMessage) => void
  readonly takeTexts: (texts: readonly RunText[]) => void
  /** The child is gone, and every call with it. */
  readonly dropAll: () => void
  underWay(): number
}

export function createCalls(): Calls {
  const open = new Map<number, (answer: EngineAnswer) => void>()
  let lastId = 0

  return Object.freeze({
    open() {
      lastId += 1
      const id = lastId
      const inbox = createInbox<EngineAnswer>()
      open.set(id, inbox.put)
      return { id, next: inbox.next, isOver: () => !open.has(id), [Symbol.dispose]: () => void open.delete(id) }
    },
    take(message: CallMessage) {
      open.get(message.id)?.(message)
      open.delete(message.id)
    },
    takeTexts(texts: readonly RunText[]) {
      for (const [id, text, inputTokens, outputTokens] of texts) {
        open.get(id)?.({ kind: 'text', text, inputTokens, outputTokens })
      }
    },
    dropAll() {
      for (const put of open.values()) put({ kind: 'gone' })
      open.clear()
    },
    underWay: () => open.size,
  })
}
