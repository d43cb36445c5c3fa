import { workersIn, workOf } from './processes.ts'

/** ms between two looks, each of which goes through all processes of the machine. */
const lookEvery = 1000

/** The server's processes that a recovery is the work of, by the beginning of their titles. */
const recovering = /^postgres: (?:startup|checkpointer)/

/**
 * Watches a server that says it recovers. Returns a function that tells whether nothing of a recovery has moved for so many
 * ms: its processes have used no time and name no other file. Always false where the system does not show processes.
 */
export function watchRecovery(cluster: string, patience: number): () => boolean {
  let [lookedAt, movedAt] = [0, Date.now()]
  let work: string | undefined
  return () => {
    if (process.platform !== 'linux') return false
    const now = Date.now()
    if (now - lookedAt >= lookEvery) {
      lookedAt = now
      const seen = workersIn(cluster)
        .map(workOf)
        .filter((each) => recovering.test(each))
        .join('\n')
      if (seen !== work) movedAt = now
      work = seen
    }
    return now - movedAt >= patience
  }
}
