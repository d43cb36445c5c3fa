import { Worker } from 'node:worker_threads'
import type { TextMessage } from '../conversation.ts'
import { isFromCounter, type FromCounter, type ToCounter } from './protocol.ts'

/** Counts tokens in a separate thread. The first count starts it, and all models share it. */
export interface CountingThread {
  /**
   * Tokens of the messages in their chat template. `source` is an encoding's name or the path of a `tokenizer.json`.
   * Rejects when the tokenizer cannot be loaded, when the thread hangs or ends, or when `signal` aborts.
   */
  count(source: string, messages: readonly TextMessage[], signal?: AbortSignal): Promise<number>
  close(): Promise<void>
}

/** Milliseconds. `budget`: counting of one prompt. `patience`: its reply, loading included, before the thread is ended. */
const defaults = { budget: 1000, patience: 15_000 }

type Waiter = PromiseWithResolvers<number>

export function createCountingThread({ budget, patience } = defaults): CountingThread {
  const waiting = new Map<number, Waiter>()
  let worker: Worker | undefined
  let lastId = 0

  function send(message: ToCounter): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker?.postMessage(message)
  }

  function start(): Worker {
    const started = new Worker(new URL('counting-worker.ts', import.meta.url))
    started.on('message', (message: unknown) => {
      if (isFromCounter(message)) take(message)
    })
    started.on('error', (error) => drop(started, error instanceof Error ? error.name : 'an error'))
    started.on('exit', () => drop(started, 'the thread ended'))
    return started
  }

  /** A process with nothing else to do may end while no count is under way. */
  function settleRef(): void {
    if (waiting.size > 0) worker?.ref()
    else worker?.unref()
  }

  function take(message: FromCounter): void {
    const waiter = waiting.get(message.id)
    if ('tokens' in message) waiter?.resolve(message.tokens)
    else waiter?.reject(new Error(message.fault))
  }

  function drop(ended: Worker, why: string): void {
    if (worker !== ended) return
    worker = undefined
    for (const { reject } of waiting.values()) reject(new Error(why))
  }

  function end(): void {
    const hung = worker
    if (!hung) return
    drop(hung, 'the thread hung')
    void hung.terminate()
  }

  async function count(source: string, messages: readonly TextMessage[], signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted()
    worker ??= start()
    const id = ++lastId
    const waiter: Waiter = Promise.withResolvers()
    const cancel = (): void => {
      send({ kind: 'cancel', id })
      waiter.reject(new Error('the caller disconnected'))
    }
    const timer = setTimeout(end, patience)
    waiting.set(id, waiter)
    signal?.addEventListener('abort', cancel)
    settleRef()
    send({ kind: 'count', id, source, messages, budget })
    try {
      return await waiter.promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      waiting.delete(id)
      settleRef()
    }
  }

  return Object.freeze({
    count,
    async close() {
      await worker?.terminate()
    },
  })
}
