import { workersIn, workOf } from '../system/processes.ts'

/** ms between two looks, each of which goes through all processes of the machine. */
const lookEvery = 1000

/** The server's processes that a recovery is the work of, by their titles, in which a `cluster_name` comes first. */
const recovering = /^postgres: (?:.+: )?(?:startup|checkpointer)/

/**
 * Watches a server that says it recovers. Returns a function, to be called more often than that, which tells whether
 * nothing of a recovery has moved for so many ms: its processes have used no time and name no other file. Always false
 * where the system does not show processes.
 */
export function watchRecovery(cluster: string, patience: number): () => boolean {
  let lookedAt = -Infinity
  let work: string | undefined
  /** Looks since something moved. Counted, not timed: while the machine or this process sleeps, nothing can. */
  let still = 0
  return () => {
    if (process.platform !== 'linux') return false
    const now = performance.now()
    if (now - lookedAt >= lookEvery) {
      lookedAt = now
      const seen = workersIn(cluster)
        .map(workOf)
        .filter((each) => recovering.test(each))
        .join('\n')
      still = seen === '' || seen !== work ? 0 : still + 1
      work = seen
    }
    return still * lookEvery >= patience
  }
}
