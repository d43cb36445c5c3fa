import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'

/** Common passwords and words, offline. */
export interface Blocklist {
  /** Which of these texts are in the list, ignoring case. */
  find(this: void, texts: readonly string[]): Promise<readonly string[]>
}

/**
 * The list is prepared by a thread when it is first needed, because decompressing and hashing it takes a while and
 * leaves many strings behind. Only eight bytes per entry stay in memory.
 */
export function createBlocklist(): Blocklist {
  let loading: Promise<BigUint64Array> | undefined

  return Object.freeze<Blocklist>({
    async find(texts) {
      loading ??= load().catch((error: unknown) => {
        loading = undefined
        throw error
      })
      const sorted = await loading
      return texts.filter((text) => includes(sorted, fingerprintOf(text)))
    },
  })
}

/** An entry of the list: 64 bits of a text's SHA-256. */
export function fingerprintOf(text: string): bigint {
  return createHash('sha256').update(text.normalize('NFC').toLowerCase()).digest().readBigUInt64BE()
}

function load(): Promise<BigUint64Array> {
  const { promise, resolve, reject } = Promise.withResolvers<BigUint64Array>()
  new Worker(new URL('blocklist-worker.ts', import.meta.url))
    .once('message', (message: unknown) => {
      if (message instanceof BigUint64Array) resolve(message)
    })
    .once('error', reject)
    .once('exit', () => reject(new Error('the list of common passwords could not be loaded')))
  return promise
}

function includes(sorted: BigUint64Array, wanted: bigint): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0n) < wanted) low = middle + 1
    else high = middle
  }
  return sorted[low] === wanted
}
