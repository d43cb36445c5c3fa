import { Type } from 'typebox'

/** The JSON schemas of unbilled work. */

const query = {
  until: Type.Optional(Type.String({ format: 'text', maxLength: 10, description: 'The last day. Default: today.' })),
  sort: Type.Optional(
    Type.Enum(['oldest', 'amount', 'name'], {
      description: 'The order: `oldest` first (the default), the largest `amount` first, or by `name`.',
    }),
  ),
}

export const unbilledQuery = Type.Object(
  {
    ...query,
    cursor: Type.Optional(Type.String({ format: 'text', maxLength: 10, description: '`next` of the previous page.' })),
  },
  { additionalProperties: false },
)
export type UnbilledQuery = Type.Static<typeof unbilledQuery>

export const unbilledFileQuery = Type.Object(query, { additionalProperties: false })

const amount = (description: string) => Type.String({ description })

export const unbilledList = Type.Object({
  until: Type.String({ format: 'date', description: 'The last day.' }),
  currency: Type.String(),
  payers: Type.Integer({ description: 'How many clients and accounts there are, on all pages.' }),
  items: Type.Integer({ description: 'How many entries and months there are, on all pages.' }),
  amount: amount('The sum of all pages, without tax, with the mark-up on letters.'),
  unbilled: Type.Array(
    Type.Object({
      payer: Type.Object({
        kind: Type.Enum(['client', 'account']),
        id: Type.String({ format: 'uuid' }),
        name: Type.String(),
        archived: Type.Boolean({ description: 'An archived client must be restored before it can be billed.' }),
        deleted: Type.Boolean({
          description:
            'A deleted client must be restored before it can be billed; its erasure removes what is not billed.',
        }),
      }),
      items: Type.Integer({ description: 'Time entries, expenses and months.' }),
      amount: amount(
        'Without tax. Of a client: what a draft would bill, each line rounded to the minor unit. Of an account: the exact cost, before the lines are rounded.',
      ),
      oldest: Type.String({
        format: 'date',
        description: 'The day of the oldest entry, or the last day of the month.',
      }),
      month: Type.Union([Type.String(), Type.Null()], {
        description: 'The oldest month of an account, for a new draft: `2026-03`. Null for a client.',
      }),
    }),
  ),
  next: Type.Union([Type.String(), Type.Null()], { description: 'The `cursor` of the next page; null on the last.' }),
})
export type UnbilledList = Type.Static<typeof unbilledList>
