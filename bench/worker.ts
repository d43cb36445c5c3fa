import { fork, type ChildProcess } from 'node:child_process'

/** A child process that performs one kind of job. It is kept between jobs, so that its code stays compiled. */
export interface Worker<Job, Result> {
  run(job: Job): Promise<Result>
  close(): void
}

/** Starts a worker from a file that answers each message with one message. */
export function startWorker<Job extends object, Result>(file: string): Worker<Job, Result> {
  const child: ChildProcess = fork(file)
  return Object.freeze({
    run: (job: Job) =>
      new Promise<Result>((resolve, reject) => {
        const ended = (): void => reject(new Error(`${file} ended.`))
        child.once('exit', ended)
        child.once('message', (result: Result) => {
          child.off('exit', ended)
          resolve(result)
        })
        child.send(job)
      }),
    close: () => child.disconnect(),
  })
}
