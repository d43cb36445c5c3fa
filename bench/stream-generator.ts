import { runStreams, type StreamLoad, type StreamResult } from './stream-load.ts'
import { startWorker, type Worker } from './worker.ts'

/** The load generator for streams, in its own process. */
export type StreamGenerator = Worker<StreamLoad, StreamResult>

export const startStreamGenerator = (): StreamGenerator => startWorker<StreamLoad, StreamResult>(import.meta.filename)

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: StreamLoad) => void runStreams(load).then((result) => process.send?.(result)))
}
