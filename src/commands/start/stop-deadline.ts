import type { Logger } from 'pino'

// Its own file, because the supervisor of several processes needs this without the service.

/** Requests in flight have 30 s, and what is closed afterwards usually takes one. */
const deadline = 45_000

/**
 * Ends a stopping process even if something cannot be closed, such as a connection to a database that hangs. Then the process is
 * stopped as by `kill -9`, which does not harm the books.
 */
export function endAtDeadline(log: Logger): void {
  setTimeout(() => {
    log.warn('stopped although something could not be closed in time: the database, for example, does not respond')
    process.exit()
  }, deadline).unref()
}
