import { runLoad, type Load, type Outcome } from './load.ts'
import { startWorker, type Worker } from './worker.ts'

/** The load generator in a process of its own. */
export type Generator = Worker<Load, Outcome>

export const startGenerator = (): Generator => startWorker<Load, Outcome>(import.meta.filename)

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: Load) => void runLoad(load).then((outcome) => process.send?.(outcome)))
}
