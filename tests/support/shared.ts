import { isEndure } from './draws.ts'

interface Closable {
  close(): Promise<void>
}

const opened: Promise<Closable>[] = []

/**
 * Returns a function that starts it once in this process, for all browser tests of `npm test`: starting it takes longer than most of
 * them. Closing it leaves it open for the next file. In `npm run endure` each file has its own, because its details depend on the data.
 */
export function shared<Started extends Closable>(start: () => Promise<Started>): () => Promise<Started> {
  let started: Promise<Started> | undefined
  return async () => {
    if (isEndure) return start()
    if (started === undefined) {
      started = start()
      opened.push(started)
    }
    return { ...(await started), close: () => Promise.resolve() }
  }
}

/** Closes what is shared, after the last file. */
export async function closeShared(): Promise<void> {
  await Promise.all(opened.splice(0).map(async (each) => (await each).close()))
}
