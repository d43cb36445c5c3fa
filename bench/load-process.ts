import { fork, type ChildProcess } from 'node:child_process'
import { runLoad, type Load, type Outcome } from './load.ts'

/** The load generator in a process of its own, which keeps warm from one load to the next. */
export interface Generator {
  run(load: Load): Promise<Outcome>
  close(): void
}

export function startGenerator(): Generator {
  const child: ChildProcess = fork(import.meta.filename)
  return Object.freeze({
    run: (load: Load) =>
      new Promise<Outcome>((resolve, reject) => {
        const ended = (): void => reject(new Error('The load generator ended.'))
        child.once('exit', ended)
        child.once('message', (outcome: Outcome) => {
          child.off('exit', ended)
          resolve(outcome)
        })
        child.send(load)
      }),
    close: () => child.disconnect(),
  })
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: Load) => {
    void runLoad(load).then((outcome) => process.send?.(outcome))
  })
}
