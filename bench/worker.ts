import { fork, type ChildProcess } from 'node:child_process'

/** A process of its own that does one kind of work, and keeps warm from one order to the next. */
export interface Worker<Order, Result> {
  run(order: Order): Promise<Result>
  close(): void
}

/** Starts a worker: a file that answers each message with another. */
export function startWorker<Order extends object, Result>(file: string): Worker<Order, Result> {
  const child: ChildProcess = fork(file)
  return Object.freeze({
    run: (order: Order) =>
      new Promise<Result>((resolve, reject) => {
        const ended = (): void => reject(new Error(`${file} ended.`))
        child.once('exit', ended)
        child.once('message', (result: Result) => {
          child.off('exit', ended)
          resolve(result)
        })
        child.send(order)
      }),
    close: () => child.disconnect(),
  })
}
