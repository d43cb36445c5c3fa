/** Reads JSON of unknown shape. What is missing, or of another type, is undefined or empty. */

export type Json = Readonly<Record<string, unknown>>

export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((part, name) => (isJsonObject(part) ? part[name] : undefined), value)
}

export function entriesOf(value: unknown): [string, unknown][] {
  return isJsonObject(value) ? Object.entries(value) : []
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A text or a number as text; everything else is empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** A whole number from 0 on that a double holds exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
