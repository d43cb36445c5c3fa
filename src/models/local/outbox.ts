import type { RunText } from './protocol.ts'

/** Collects the texts of all runs and sends them to the server in batches. */
export interface Outbox {
  add(text: RunText): void
  /** Removes and returns the unsent text of a run. */
  take(id: number): string
}

/** Milliseconds between two messages. A message costs about 0.3 ms on both sides together; readers do not notice the delay. */
const pause = 20

/** Sends the first texts at once, in one message per batch of tokens. Later texts wait for the pause and share a message. */
export function createOutbox(send: (texts: readonly RunText[]) => void): Outbox {
  const waiting = new Map<number, RunText>()
  let isScheduled = false

  function flush(): void {
    isScheduled = waiting.size > 0
    if (!isScheduled) return
    send([...waiting.values()])
    waiting.clear()
    setTimeout(flush, pause)
  }

  return {
    add([id, text, ...tokens]) {
      if (text === '') return
      waiting.set(id, [id, (waiting.get(id)?.[1] ?? '') + text, ...tokens])
      if (!isScheduled) setImmediate(flush)
      isScheduled = true
    },
    take(id) {
      const [, text = ''] = waiting.get(id) ?? []
      waiting.delete(id)
      return text
    },
  }
}
