import { randomInt } from 'node:crypto'

/** The field names of JSON that were seen so far. */
export interface NameSet {
  /** Adds the name between two places of the bytes. Returns how many different ones there are. */
  add(json: Buffer, start: number, end: number): number
}

/** Names are compared by their first bytes. A megabyte of JSON has few longer names. */
const mostCompared = 64
/** Differs in each process, so that no one can find names that collide. */
const seed = randomInt(2 ** 32)

/**
 * Creates a set for `most` names and one more, after which none may be added. Keeps a hash of each (FNV-1a) in a table with
 * open addressing: strings and a Set would take longer than the parser.
 */
export function createNameSet(most: number): NameSet {
  const mask = 2 ** Math.ceil(Math.log2(2 * (most + 1))) - 1
  const table = new Uint32Array(mask + 1)
  let count = 0
  return {
    add(json, start, end) {
      const hash = hashOf(json, start, Math.min(end, start + mostCompared))
      let slot = hash & mask
      while (table[slot] !== 0 && table[slot] !== hash) slot = (slot + 1) & mask
      if (table[slot] === 0) {
        table[slot] = hash
        count++
      }
      return count
    },
  }
}

/** Never 0, which marks an empty slot. */
function hashOf(json: Buffer, start: number, end: number): number {
  let hash = seed
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (json[at] ?? 0), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0 || 1
}
