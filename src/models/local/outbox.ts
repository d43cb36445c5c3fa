/** Texts of all runs on their way to the server. */
export interface Outbox {
  add(id: number, text: string): void
  /** Takes what has not been sent of one run. */
  take(id: number): string
}

/** Milliseconds between two messages. A message costs about 0.3 ms on both sides together, and nobody reads faster. */
const pause = 20

/** Sends the first text at once, and what comes soon after it together. */
export function createOutbox(send: (texts: readonly (readonly [id: number, text: string])[]) => void): Outbox {
  const waiting = new Map<number, string>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    timer = undefined
    if (waiting.size === 0) return
    send([...waiting])
    waiting.clear()
    timer = setTimeout(flush, pause)
  }

  return {
    add(id, text) {
      if (text === '') return
      waiting.set(id, (waiting.get(id) ?? '') + text)
      if (timer === undefined) flush()
    },
    take(id) {
      const text = waiting.get(id) ?? ''
      waiting.delete(id)
      return text
    },
  }
}
