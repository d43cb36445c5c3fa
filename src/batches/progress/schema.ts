import { Type } from 'typebox'

/** The wire shapes of what a person sees of the batches of an account. */

const time = (description: string) => Type.String({ format: 'date-time', description })
const timeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

export const batchShown = Type.Object({
  batch_id: Type.String({ description: 'Its id, as callers have it.' }),
  account_id: Type.String({ format: 'uuid' }),
  dialect: Type.Enum(['openai', 'anthropic'], { description: 'The API in whose form it was sent.' }),
  status: Type.Enum(['in_progress', 'cancelling', 'completed', 'failed', 'cancelled', 'expired']),
  lines: count('All its lines. A batch that was refused has none.'),
  succeeded: count('Lines with a reply.'),
  failed: count('Lines that were run, and have none. When a batch has ended, the others were not run.'),
  waits_for: Type.Union([Type.Enum(['limits', 'credit', 'model']), Type.Null()], {
    description: 'What an open batch waits for now. Null: nothing.',
  }),
  created_at: time('When its lines were complete.'),
  expires_at: time('Lines that have not begun by then are not run.'),
  ended_at: timeOrNull('Null while it is open.'),
  results_until: timeOrNull('Until when its results can be downloaded. Null: there are none, or they are gone.'),
})
export type BatchShown = Type.Static<typeof batchShown>

export const accountBatches = Type.Object({
  batches: Type.Array(batchShown),
  next: Type.Union([Type.String(), Type.Null()], { description: '`cursor` of the next page. Null: this is the last.' }),
})
export type AccountBatches = Type.Static<typeof accountBatches>

export const accountBatchesQuery = Type.Object(
  {
    cursor: Type.Optional(Type.String({ format: 'text', maxLength: 36, description: '`next` of the previous page.' })),
    limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; default 50.' })),
  },
  { additionalProperties: false },
)
