import { Connection } from 'pg'

/** Whether a prepared statement with these values is a step. */
export type IsStep = (statement: string, values: readonly unknown[]) => boolean

export const named =
  (name: string): IsStep =>
  (statement) =>
    statement === name || statement.startsWith(`${name} `)

const kill = () => process.kill(process.pid, 'SIGKILL')

const fates: Readonly<Record<string, (connection: Connection) => unknown>> = {
  before: kill,
  // What was written in this turn of the event loop is sent at its end.
  sent: () => setImmediate(() => setImmediate(kill)),
  answered: (connection) => connection.once('readyForQuery', kill),
}

/** Kills this process at a step: before its statement is sent, when it was sent, or when it was answered. */
export function killAt(isStep: IsStep | undefined, fate: string): void {
  const end = fates[fate]
  const prototype: { bind: (this: Connection, ...all: Parameters<Connection['bind']>) => void } = Connection.prototype
  const { bind } = prototype
  prototype.bind = function (...all) {
    const [config] = all
    if (config !== null && isStep?.(config.statement ?? '', config.values ?? [])) end?.(this)
    bind.apply(this, all)
  }
}
