import type { ItemKind } from './kinds.ts'
import { shownMoney } from './money.ts'
import { letter, letterChange, letterList, newLetter } from './schema.ts'

/** A letter to a client: a draft, approved or sent. */
export const letters: ItemKind = Object.freeze({
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
} satisfies ItemKind)
