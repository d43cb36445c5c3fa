import { ApiError, change } from '../api.ts'
import { isSame, type Sent } from '../fields.ts'

type Body = Readonly<Record<string, Sent>>

/**
 * Creates a record exactly once. If a response is lost, the retry finds the record and sends the changes typed since;
 * other people's changes are kept. `always` is sent with it. Throws ApiError. `key` is the idempotency key: something that is created once on
 * all pages has one of its own.
 */
export function createMaker<Made extends { readonly id: string; readonly version: number }>(
  address: string,
  always: Readonly<Record<string, object>> = {},
  key = newKey(),
): (body: Body) => Promise<Made> {
  /** The requests without a response. One of them may have created the record. */
  const lost: Body[] = []
  return async (body) => {
    try {
      const made = await change<Made>(address, { method: 'POST', body: { ...always, ...body }, key })
      const rest = differing(body, lost)
      if (Object.keys(rest).length === 0) return made
      return await change<Made>(`${address}/${made.id}`, { method: 'PATCH', body: rest, version: made.version })
    } catch (error) {
      if (error instanceof ApiError && (error.status === 0 || error.status >= 500)) lost.push(body)
      throw error
    }
  }
}

function differing(body: Body, sent: readonly Body[]): Body {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => sent.some((before) => !isSame(value ?? '', before[name] ?? ''))),
  )
}

/** A UUIDv7 (RFC 9562 section 5.7). */
export function newKey(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
}
