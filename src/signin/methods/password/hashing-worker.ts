import { argon2Sync } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { isDeriveOrder, type DerivedHash } from './hashing-order.ts'

/** A thread that hashes passwords, for `argon2.ts`. Beside other work of the machine, one with the lowest priority takes half a minute. */
const niceness = 10

/** On Linux, every thread has a priority of its own (setpriority(2)). */
function lowerPriority(): void {
  if (process.platform !== 'linux') return
  try {
    const [, , thread = ''] = readlinkSync('/proc/thread-self').split('/')
    if (Number(thread) !== process.pid) setPriority(Number(thread), niceness)
  } catch {
    // Without /proc, the thread keeps the normal priority.
  }
}

function send(message: DerivedHash): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}

lowerPriority()
parentPort?.on('message', (order: unknown) => {
  if (isDeriveOrder(order)) send({ hash: argon2Sync('argon2id', order) })
})
