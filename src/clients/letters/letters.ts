import { personOf, timeIfAny } from '../items/values.ts'
import type { ItemKind } from '../items/kinds.ts'
import { shownMoney } from '../money.ts'
import { letter, letterChange, letterList, newLetter } from '../schema.ts'

/**
 * A letter to a client: a draft, approved or sent. A changed text makes an approved letter a draft again. A draft that is
 * sent is approved by its sender. Nothing changes a sent letter: see keep_letter().
 */
export const letters: ItemKind = Object.freeze({
  noun: 'letter',
  plural: 'letters',
  columns: ['subject', 'body', 'status'],
  shown: ['generated', 'approved_at', 'sent_at', 'previous_id'],
  people: ['approved_by'],
  computed: {
    drafts: '(select count(*)::int from draft where draft.letter_id = n.id)',
    // The charges of its drafts, as text.
    cost: `(select sum(l.cost)::text from draft
      cross join lateral (select cost from ledger where request_id = draft.id limit 1) l where draft.letter_id = n.id)`,
  },
  statusActions: { approved: 'letter_approved', sent: 'letter_sent' },
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
  toStateFields: ({
    drafts,
    status,
    updated_at,
    approved_at,
    approved_by,
    approved_by_name,
    sent_at,
    previous_id,
  }) => ({
    drafts,
    approved_at: timeIfAny(approved_at),
    approved_by: personOf(approved_by, approved_by_name),
    // Version 0.2.0 kept no time of its own.
    sent_at: timeIfAny(sent_at ?? (status === 'sent' ? updated_at : null)),
    previous_id,
  }),
} satisfies ItemKind)
