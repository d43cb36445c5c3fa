import type { Logger } from 'pino'

export interface RepeatedWork {
  /** Waits for running work and does not start it again. Idempotent. */
  stop(): Promise<void>
}

/**
 * Repeats `work` until stopped, each time `pause` ms after it ended. Of consecutive failures only the first is logged, and
 * the recovery. Does not keep the process alive.
 */
export function repeat(needs: {
  name: string
  pause: number
  work: () => Promise<void>
  log: Pick<Logger, 'info' | 'warn'>
}): RepeatedWork {
  const { name, pause, work, log } = needs
  let failing = false
  let stopped = false
  let running = Promise.resolve()

  const attempt = async () => {
    try {
      await work()
      if (failing) log.info(`${name}: works again`)
      failing = false
    } catch (error) {
      if (!failing) log.warn({ err: error }, `${name}: failed, will be retried`)
      failing = true
    }
    schedule()
  }
  const schedule = () => {
    if (!stopped) timer = setTimeout(begin, pause).unref()
  }
  const begin = () => {
    running = attempt()
  }
  let timer: NodeJS.Timeout | undefined
  schedule()

  return Object.freeze({
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  })
}
