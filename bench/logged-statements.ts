/** A statement that the service sent, with its parameters as text. */
export interface SentStatement {
  /** The process id of PostgreSQL's backend. */
  readonly backend: string
  readonly text: string
  readonly parameters: readonly (string | null)[]
}

/** A line that begins an entry: time, process, level. */
const entryStart = /^\d{4}-\d\d-\d\d [\d:.]+ \S+ \[(?<process>\d+)\] /u

/** The executed statements of a log, with the parameters from the detail that follows each. */
export function statementsIn(log: string): SentStatement[] {
  const found: SentStatement[] = []
  const entries = log.split(/^(?=\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] )/mu)
  const executed = new Map<string, string>()
  for (const entry of entries) {
    const backend = entryStart.exec(entry)?.groups?.['process'] ?? ''
    const message = entry.replace(entryStart, '')
    const text = /^LOG: {2}duration: [\d.]+ ms {2}execute [^:]+: (?<text>[^]*)$/u.exec(message)?.groups?.['text']
    const parameters = /^DETAIL: {2}Parameters: (?<list>[^]*)$/u.exec(message)?.groups?.['list']
    const before = executed.get(backend)
    executed.delete(backend)
    if (before !== undefined) {
      found.push({ backend, text: before, parameters: parameters === undefined ? [] : parametersIn(parameters) })
    }
    if (text !== undefined) executed.set(backend, text.trim())
  }
  for (const [backend, text] of executed) found.push({ backend, text, parameters: [] })
  return found
}

/** `$1 = 'a', $2 = NULL`, with quotes doubled. */
function parametersIn(list: string): (string | null)[] {
  return [...list.matchAll(/\$\d+ = (?:NULL|'(?<value>(?:[^']|'')*)')/gu)].map(
    ({ groups }) => groups?.['value']?.replaceAll("''", "'") ?? null,
  )
}
