import { Worker } from 'node:worker_threads'
import { isDerived, type DeriveOrder } from './hashing-order.ts'

/** Threads that wait for work. There are as many as there have been hashes at the same time. */
const idle: Worker[] = []

/**
 * Computes a hash in a thread with a low priority: requests come first on every processor, and libuv's thread pool stays
 * free for files and host names. Rejects if the thread ends.
 */
export async function derive(order: DeriveOrder): Promise<Buffer> {
  const worker = idle.pop() ?? start()
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const receive = (message: unknown) => {
    if (isDerived(message)) resolve(Buffer.from(message.hash))
    else reject(new Error('a password could not be hashed'))
  }
  const end = () => reject(new Error('the thread that hashes passwords ended'))
  worker.on('message', receive).on('exit', end).ref()
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(order)
    const hash = await promise
    idle.push(worker)
    return hash
  } finally {
    // A process with nothing else to do may end.
    worker.off('message', receive).off('exit', end).unref()
  }
}

function start(): Worker {
  const worker = new Worker(new URL('hashing-worker.ts', import.meta.url))
  worker.on('error', () => undefined)
  worker.on('exit', () => {
    const place = idle.indexOf(worker)
    if (place !== -1) idle.splice(place, 1)
  })
  return worker
}
