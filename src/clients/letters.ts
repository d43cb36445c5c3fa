import type { Kind } from './kinds.ts'
import { shownMoney } from './money.ts'
import { letter, letterChange, letterList, newLetter } from './schema.ts'

/** A letter to a client, on its way from a draft to what was sent. */
export const letters: Kind = Object.freeze({
  noun: 'letter',
  plural: 'letters',
  columns: ['subject', 'body', 'status'],
  shown: ['generated', 'cost'],
  money: ['cost'],
  order: 'n.created_at desc, n.id desc',
  shape: letter,
  listShape: letterList,
  newBody: newLetter,
  changeBody: letterChange,
  defaults: { body: '', status: 'draft' },
  toColumns: (body) => body,
  toFields: ({ subject, body, status, generated, cost }, currency) => ({
    subject,
    body,
    status,
    generated,
    cost: shownMoney(cost, currency),
    currency,
  }),
} satisfies Kind)
