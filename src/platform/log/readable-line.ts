import { pino } from 'pino'

/** A JSON line of the log for a terminal: `21:05:03 INFO  request method=GET status=200`. */
export function readableLine(line: string): string {
  const record: unknown = JSON.parse(line)
  if (typeof record !== 'object' || record === null) return line
  const { level, time, msg, ...fields } = { level: 0, time: 0, msg: '', ...record }
  const label = (pino.levels.labels[level] ?? String(level)).toUpperCase().padEnd(5)
  const clock = new Date(time).toTimeString().slice(0, 8)
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${textOf(value)}`)
  return `${[`${clock} ${label} ${printable(msg)}`, ...shown].join(' ')}\n`
}

function textOf(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : printable(JSON.stringify(value))
}

/** The message is shown without quotes, so an escape sequence in it must not reach the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
