import type { CallMessage, RunText } from './protocol.ts'

/** A message of the child for one call, or `gone` if the child ended. */
export type EngineAnswer = CallMessage | TextSoFar | { readonly kind: 'gone' }

/** Text of a run, with the token counts up to its end. */
export interface TextSoFar {
  readonly kind: 'text'
  readonly text: string
  readonly inputTokens: number
  readonly outputTokens: number
}

/** One request to the child. Disposing of it drops any later answers. */
export interface Call extends Disposable {
  readonly id: number
  next(): Promise<EngineAnswer>
  /** Whether the last answer has arrived. */
  isOver(): boolean
}

/** The calls in progress, by the id that the child uses. */
export interface Calls {
  open(): Call
  readonly take: (message: CallMessage) => void
  readonly takeTexts: (texts: readonly RunText[]) => void
  /** Ends every call with `gone` because the child has ended. */
  readonly dropAll: () => void
  inFlight(): number
}

export function createCalls(): Calls {
  const open = new Map<number, (answer: EngineAnswer) => void>()
  let lastId = 0

  return Object.freeze<Calls>({
    open() {
      lastId += 1
      const id = lastId
      const inbox = createInbox<EngineAnswer>()
      open.set(id, inbox.put)
      return { id, next: inbox.next, isOver: () => !open.has(id), [Symbol.dispose]: () => void open.delete(id) }
    },
    take(message) {
      open.get(message.id)?.(message)
      open.delete(message.id)
    },
    takeTexts(texts) {
      for (const [id, text, inputTokens, outputTokens] of texts) {
        open.get(id)?.({ kind: 'text', text, inputTokens, outputTokens })
      }
    },
    dropAll() {
      for (const put of open.values()) put({ kind: 'gone' })
      open.clear()
    },
    inFlight: () => open.size,
  })
}

/** A queue from a callback to an `await`. It keeps the order and loses nothing. */
interface Inbox<Item> {
  readonly put: (item: Item) => void
  /** Resolves with the next item when it is there. */
  readonly next: () => Promise<Item>
}

function createInbox<Item>(): Inbox<Item> {
  const items: Item[] = []
  let waiting: ((item: Item) => void) | undefined
  return {
    put(item) {
      const take = waiting
      waiting = undefined
      if (take) take(item)
      else items.push(item)
    },
    async next() {
      return items.shift() ?? new Promise<Item>((resolve) => (waiting = resolve))
    },
  }
}
