import { Type, type TSchema } from 'typebox'
import { compileBody } from '../../platform/http/input/validation.ts'
import { openAiUrls } from '../lines.ts'

/** The wire shapes of OpenAI's files and batches. */
const seconds = (description: string) => Type.Integer({ description, examples: [1_790_000_000] })
const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description })
const time = (description: string) => orNull(Type.Integer(), `${description} Seconds since 1970.`)
const fileId = (description: string) =>
  Type.String({ description, examples: ['file-0199d2f47b517c3e9a600c3b1f7a2e11'] })

export const fileObject = Type.Object({
  id: fileId('The id of the file.'),
  object: Type.Literal('file'),
  bytes: Type.Integer({ description: 'Its size.' }),
  created_at: seconds('Seconds since 1970.'),
  expires_at: seconds('When it is removed. Seconds since 1970.'),
  filename: Type.String({ description: 'Its name.' }),
  purpose: Type.Enum(['batch', 'batch_output']),
  status: Type.Literal('processed'),
})

export const fileForm = Type.Object({
  file: Type.String({ format: 'binary', description: 'The file: one request in each line.' }),
  purpose: Type.Literal('batch'),
})

export const deletedFile = Type.Object({
  id: fileId('The id of the file.'),
  object: Type.Literal('file'),
  deleted: Type.Literal(true),
})

export const listedFiles = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(fileObject),
  first_id: orNull(Type.String(), 'The id of the first file.'),
  last_id: orNull(Type.String(), 'The id of the last file: `after` of the next page.'),
  has_more: Type.Boolean({ description: 'Whether there are more.' }),
})

const pairs = Type.Record(Type.String({ maxLength: 64 }), Type.String({ format: 'text', maxLength: 512 }), {
  maxProperties: 16,
  description: 'Up to 16 texts by names of your own.',
})

export const newBatch = Type.Object(
  {
    input_file_id: Type.String({
      maxLength: 100,
      description: 'The id of the uploaded file.',
      examples: ['file-0199d2f47b517c3e9a600c3b1f7a2e11'],
    }),
    endpoint: Type.Enum([...openAiUrls], {
      description: 'The URL of all its requests.',
      examples: ['/v1/chat/completions'],
    }),
    completion_window: Type.Literal('24h', { description: 'What has not begun by then is not made.' }),
    metadata: Type.Optional(Type.Union([pairs, Type.Null()])),
    output_expires_after: Type.Optional(
      Type.Object(
        {
          anchor: Type.Literal('created_at'),
          seconds: Type.Integer({ minimum: 3600, maximum: 2_592_000, examples: [86_400] }),
        },
        {
          additionalProperties: false,
          description: 'How long the results are kept after the end, if that is shorter than what is configured.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)
export const checkNewBatch = compileBody(newBatch)

const fault = Type.Object({
  code: Type.String({ description: 'The code of the error.' }),
  line: orNull(Type.Integer(), 'The line of the file.'),
  message: Type.String({ description: 'What is wrong and what to do.' }),
  param: orNull(Type.String(), 'The field at fault.'),
})

export const batchObject = Type.Object({
  id: Type.String({ description: 'The id of the batch.', examples: ['batch_0199d2f47b517c3e9a600c3b1f7a2e12'] }),
  object: Type.Literal('batch'),
  endpoint: Type.String({ description: 'The URL of its requests.' }),
  errors: orNull(
    Type.Object({ object: Type.Literal('list'), data: Type.Array(fault) }),
    'Why it failed: the first hundred lines at fault, or why its key can no longer pay.',
  ),
  input_file_id: fileId('The id of the file with its requests.'),
  completion_window: Type.Literal('24h'),
  status: Type.Enum(['in_progress', 'completed', 'failed', 'expired', 'cancelling', 'cancelled']),
  output_file_id: orNull(Type.String(), 'The id of the file with the replies, once it has ended and if there are any.'),
  error_file_id: orNull(
    Type.String(),
    'The id of the file with the other requests, once it has ended and if there are any.',
  ),
  created_at: seconds('Seconds since 1970.'),
  in_progress_at: time('When it was queued.'),
  expires_at: time('When requests that have not begun are given up.'),
  finalizing_at: time('When its results were put together.'),
  completed_at: time('When its last request ended.'),
  failed_at: time('When it failed.'),
  expired_at: time('When it expired.'),
  cancelling_at: time('When it was cancelled.'),
  cancelled_at: time('When the last request of the cancelled batch ended.'),
  request_counts: Type.Object({
    total: Type.Integer({ description: 'The requests of the file.' }),
    completed: Type.Integer({ description: 'Those with a reply.' }),
    failed: Type.Integer({ description: 'Those without one that have ended.' }),
  }),
  metadata: orNull(pairs, 'Your pairs.'),
})

export const listedBatches = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(batchObject),
  first_id: orNull(Type.String(), 'The id of the first batch.'),
  last_id: orNull(Type.String(), 'The id of the last batch: `after` of the next page.'),
  has_more: Type.Boolean({ description: 'Whether there are more.' }),
})

/** Query strings are texts. */
export const pageQuery = Type.Object({
  after: Type.Optional(Type.String({ maxLength: 100, description: 'The id after which the page begins.' })),
  limit: Type.Optional(Type.String({ maxLength: 10, description: 'Default 20, at most 100.', examples: ['20'] })),
})
