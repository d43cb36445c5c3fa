import type { RunText } from './protocol.ts'

/** Texts of all runs on their way to the server. */
export interface Outbox {
  add(text: RunText): void
  /** Takes what has not been sent of one run. */
  take(id: number): string
}

/** Milliseconds between two messages. A message costs about 0.3 ms on both sides together, and nobody reads faster. */
const pause = 20

/** Sends the first texts at once, those of one batch together, and what comes soon after them together, too. */
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
