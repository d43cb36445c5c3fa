/** An error as the log records it. */
interface LoggedError {
  readonly type: string
  readonly code?: unknown
  readonly table?: unknown
  readonly constraint?: unknown
  readonly message?: string
  /** Without the message that a stack begins with. */
  readonly stack?: string
  readonly cause?: LoggedError
}

/**
 * Describes an error without the texts that it may quote. The message, the detail and the position of PostgreSQL's errors
 * contain values of rows, and those are texts of callers and clients.
 */
export function describeError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error }
  const { name, message, stack = '', cause } = error
  const isDatabase = 'severity' in error
  const frames = stack.indexOf('\n    at ')
  return {
    type: name,
    ...('code' in error && { code: error.code }),
    ...(isDatabase && 'table' in error && { table: error.table }),
    ...(isDatabase && 'constraint' in error && { constraint: error.constraint }),
    ...(!isDatabase && { message }),
    ...(frames >= 0 && { stack: stack.slice(frames + 1) }),
    ...(cause instanceof Error && { cause: describeError(cause) }),
  }
}
