import type { PersonJson } from '../items/store.ts'

/** A time in PostgreSQL's JSON → a time in a response. */
export function timeOf(text: string): string {
  return new Date(text).toISOString()
}

/** Like `timeOf`, for a column that can be null. */
export function timeIfAny(value: unknown): string | null {
  return typeof value === 'string' ? timeOf(value) : null
}

/** The person in two columns; null if there is none. */
export function personOf(id: unknown, name: unknown): PersonJson | null {
  return typeof id === 'string' && typeof name === 'string' ? { id, name } : null
}
