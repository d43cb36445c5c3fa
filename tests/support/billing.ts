import { ok, type Answer } from './answer.ts'
import type { Session } from './firm.ts'

/** A line of an invoice. */
export const fee = { text: 'Advice', quantity: '1', unit: 'hour', unit_price: '100' }
export const pathOf = ({ json }: Answer) => `/invoices/${String(json['id'])}`
export const tagOf = ({ json }: Answer) => ({ 'if-match': `"${String(json['version'])}"` })

/** How a partner bills. Each step succeeds, and returns the invoice or credit note as it is then. */
export function billing(by: Session) {
  /** Whatever the response is. */
  const attempt = (made: Answer, verb: string, body?: object) =>
    by.send('POST', `${pathOf(made)}/${verb}`, body, body === undefined ? tagOf(made) : {})
  return {
    attempt,
    bill: async (body: object) => ok(await by.send('POST', '/invoices', { lines: [fee], ...body }), 201),
    read: async (made: Answer) => ok(await by.get(pathOf(made))).json,
    change: async (made: Answer, body: object) => ok(await by.send('PATCH', pathOf(made), body, tagOf(made))),
    issue: async (made: Answer) => ok(await attempt(made, 'issue')),
    discard: async (made: Answer) => ok(await attempt(made, 'void')),
    credit: async (done: Answer, body: object = {}) => ok(await attempt(done, 'credit', body), 201),
    pay: async (done: Answer, body: object) => ok(await attempt(done, 'payments', body), 201),
  }
}
