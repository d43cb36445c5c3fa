import { runLoad, type Load, type LoadResult } from './load.ts'
import { startWorker, type Worker } from './worker.ts'

/** The load generator in its own process. */
export type LoadGenerator = Worker<Load, LoadResult>

export const startLoadGenerator = (): LoadGenerator => startWorker<Load, LoadResult>(import.meta.filename)

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: Load) => void runLoad(load).then((result) => process.send?.(result)))
}
