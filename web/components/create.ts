import { ApiError, change } from '../api.ts'
import { isSame, valuesOf, type Field, type Value } from '../fields.ts'

type Body = Readonly<Record<string, Value | null>>

/**
 * Makes one thing at an address, however often that is tried: where an answer was lost on its way, the next try finds
 * what was made, and changes it if more has been written since. Throws ApiError.
 */
export function createMaker<Made extends { readonly id: string; readonly version: number }>(
  address: string,
  fields: readonly Field[],
): (body: Body) => Promise<Made> {
  const key = newKey()
  let isLost = false
  return async (body) => {
    try {
      const made = await change<Made>(address, { method: 'POST', body, key })
      const rest = isLost ? differing(body, made, fields) : {}
      if (Object.keys(rest).length === 0) return made
      return await change<Made>(`${address}/${made.id}`, { method: 'PATCH', body: rest, version: made.version })
    } catch (error) {
      isLost ||= error instanceof ApiError && (error.status === 0 || error.status >= 500)
      throw error
    }
  }
}

function differing(body: Body, made: object, fields: readonly Field[]): Body {
  const there = valuesOf(fields, made)
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !isSame(value ?? '', there[name])))
}

/** A UUIDv7 (RFC 9562 section 5.7). */
function newKey(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
}
