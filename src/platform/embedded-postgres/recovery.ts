import { workersIn, workOf } from '../system/processes.ts'

/** In ms. Each sample scans all processes of the machine. */
const sampleEvery = 1000

/** The titles of the processes that perform a recovery. A `cluster_name` comes first in them. */
const recovering = /^postgres: (?:.+: )?(?:startup|checkpointer)/

/**
 * Watches a recovering server. Returns a function, to be called at least once per second, that returns whether the recovery
 * has made no progress for `patience` ms: its processes have used no CPU time and their titles name the same file. Always
 * false if the system has no /proc.
 */
export function watchRecovery(cluster: string, patience: number): () => boolean {
  let sampledAt = -Infinity
  let work: string | undefined
  /** Samples without progress. Not a time, because the machine or this process may sleep. */
  let still = 0
  return () => {
    if (process.platform !== 'linux') return false
    const now = performance.now()
    if (now - sampledAt >= sampleEvery) {
      sampledAt = now
      const seen = workersIn(cluster)
        .map(workOf)
        .filter((each) => recovering.test(each))
        .join('\n')
      still = seen === '' || seen !== work ? 0 : still + 1
      work = seen
    }
    return still * sampleEvery >= patience
  }
}
