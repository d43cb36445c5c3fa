import { Type, type TSchema } from 'typebox'
import { refusalsAs, refusalsOfCallers } from '../generation/calls/formats.ts'
import { answers, needsKey, rateLimitHeaders, refusalsOfBody } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'

/** What the OpenAPI operations of batches have in common, in the forms of both vendors. */

export const common = { tags: ['Batches'], ...needsKey }

export const reading: readonly ProblemCode[] = [...refusalsOfCallers, 'not_found']
export const paging: readonly ProblemCode[] = [...refusalsOfCallers, 'invalid_field']
export const ending: readonly ProblemCode[] = [...reading, 'conflict']
export const creating: readonly ProblemCode[] = [...refusalsOfCallers, ...refusalsOfBody, 'conflict', 'request_timeout']

export const ofBatch = Type.Object({ id: Type.String({ description: 'The id of the batch.' }) })

export const free = 'Free of charge; does not count towards the limits.'
export const listed = `The newest first, those of all its keys. ${free}`
export const cancelled = `Requests that have begun are made and charged; the others are not. ${free}`

/** The answers of the operations of a vendor, by the schema of its errors. */
export const answersWith = (error: TSchema) => ({
  responses: (of: TSchema, description: string, codes: readonly ProblemCode[]) => ({
    response: { 200: answers(of, description, rateLimitHeaders), ...refusalsAs(error, [...codes]) },
  }),
  lines: (codes: readonly ProblemCode[]) => ({
    response: {
      200: { description: 'The lines.', content: { 'application/x-ndjson': { schema: { type: 'string' } } } },
      ...refusalsAs(error, [...codes]),
    },
  }),
})
