import { Type } from 'typebox'
import { messagesRequest } from '../../generation/calls/formats.ts'

/** The wire shapes of Anthropic's message batches. */
const time = (description: string) => Type.String({ format: 'date-time', description })
const timeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

export const newMessageBatch = Type.Object(
  {
    requests: Type.Array(
      Type.Object({
        custom_id: Type.String({
          description: 'Your name of the request, by which its result is found.',
          examples: ['first'],
        }),
        params: messagesRequest,
      }),
      { description: 'The requests.', minItems: 1 },
    ),
  },
  { additionalProperties: false },
)

export const messageBatch = Type.Object({
  id: Type.String({ description: 'The id of the batch.', examples: ['msgbatch_0199d2f47b517c3e9a600c3b1f7a2e12'] }),
  type: Type.Literal('message_batch'),
  processing_status: Type.Enum(['in_progress', 'canceling', 'ended']),
  request_counts: Type.Object({
    processing: count('Those that have not ended.'),
    succeeded: count('Those with a reply.'),
    errored: count('Those that failed.'),
    canceled: count('Those that were not made because the batch was canceled or its key became invalid.'),
    expired: count('Those that were not made within 24 hours.'),
  }),
  created_at: time('When it was queued.'),
  expires_at: time('When requests that have not begun are given up.'),
  ended_at: timeOrNull('When its last request ended.'),
  cancel_initiated_at: timeOrNull('When it was canceled.'),
  archived_at: timeOrNull('Always null.'),
  results_url: Type.Union([Type.String(), Type.Null()], { description: 'The URL of its results, once it has ended.' }),
})

export const listedMessageBatches = Type.Object({
  data: Type.Array(messageBatch),
  first_id: Type.Union([Type.String(), Type.Null()], { description: 'The id of the first batch.' }),
  last_id: Type.Union([Type.String(), Type.Null()], { description: 'The id of the last batch.' }),
  has_more: Type.Boolean({ description: 'Whether there are more.' }),
})

export const deletedMessageBatch = Type.Object({
  id: Type.String({ description: 'The id of the batch.' }),
  type: Type.Literal('message_batch_deleted'),
})

/** Query strings are texts. */
export const messageBatchesQuery = Type.Object({
  after_id: Type.Optional(Type.String({ maxLength: 100, description: 'The id after which the page begins.' })),
  before_id: Type.Optional(Type.String({ maxLength: 100, description: 'The id before which the page ends.' })),
  limit: Type.Optional(Type.String({ maxLength: 10, description: 'Default 20, at most 1000.', examples: ['20'] })),
})
