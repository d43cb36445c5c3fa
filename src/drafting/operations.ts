import { Type } from 'typebox'
import {
  answers,
  answersOrStreams,
  needsSession,
  refusals,
  refusalsOfBody,
  refusalsOfPeople,
} from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of drafts and templates, and the problem codes that each can return. */
const reading: readonly ProblemCode[] = [...refusalsOfPeople, 'not_found', 'headers_too_large']
const writing: readonly ProblemCode[] = [
  ...reading,
  ...refusalsOfBody,
  'cross_site_request',
  'conflict',
  'request_timeout',
]
/** What the till and the model refuse. */
const generating: readonly ProblemCode[] = [
  'insufficient_credit',
  'rate_limit_exceeded',
  'can_never_fit_limit',
  'no_billing_account',
  'context_length_exceeded',
  'upstream_failed',
  'upstream_timeout',
  'overloaded',
]

const text = (description: string) => Type.String({ description })
const ofClient = Type.Object({ client: text('The id of the client.') })
const ofDraft = Type.Object({ client: text('The id of the client.'), draft: text('The id of the draft.') })
const ofTemplate = Type.Object({ template: text('The id of the template.') })
const idempotent = {
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      text(
        'A UUIDv7. A repeated request by the same person with the same key starts and charges nothing. It returns the draft ' +
          'of the first request in its current state, even if it is still running or has failed. A stream of it has `done` alone.',
      ),
    ),
  }),
}
const etag = { etag: text('The version, to send back in If-Match.') }
const ifMatch = { 'If-Match': text('The ETag of the version that the change is based on.') }

const inDrafts = { tags: ['Drafts'], ...needsSession }
const inTemplates = { tags: ['Templates'], ...needsSession }

export const writeDraft = {
  ...inDrafts,
  ...idempotent,
  operationId: 'writeDraft',
  summary: 'Draft a letter',
  description:
    "A model writes a letter from the client's notes, disputes and documents. The firm's own account pays, and the cost is attributed to the client. The draft continues if the caller disconnects or signs out.",
  params: ofClient,
  body: schema.newDraft,
  response: {
    200: answersOrStreams(schema.drafted, 'The letter.', {
      description:
        '`started` with `id` and `model`, a `delta` with `text` for each piece, and last either `done` with `draft` and `letter`, or `error` with `error` and `draft`.',
      example: [
        'event: started\ndata: {"id":"0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11","model":"tiny"}',
        'event: delta\ndata: {"text":"Dear Anna Berg,"}',
      ].join('\n\n'),
    }),
    ...refusals([...writing, ...generating]),
  },
}

export const stopDraft = {
  ...inDrafts,
  operationId: 'stopDraft',
  summary: 'Stop a draft',
  description: 'The text so far is charged and becomes the letter. Does nothing if the draft has ended.',
  params: ofDraft,
  response: { 202: answers(schema.draft, 'The draft.'), ...refusals([...reading, 'cross_site_request']) },
}

export const listDrafts = {
  ...inDrafts,
  operationId: 'listDrafts',
  summary: 'List the drafts of a client',
  description: 'The newest 200.',
  params: ofClient,
  querystring: schema.draftQuery,
  response: {
    200: answers(schema.draftList, 'The newest first.'),
    ...refusals([...reading, 'invalid_field', 'unknown_field']),
  },
}

export const readDraft = {
  ...inDrafts,
  operationId: 'readDraft',
  summary: 'Read a draft',
  params: ofDraft,
  response: { 200: answers(schema.draft, 'The draft.'), ...refusals(reading) },
}

export const checkDraft = {
  ...inDrafts,
  operationId: 'checkDraft',
  summary: 'Check a letter against its sources',
  description:
    'Compares the text of the letter with that of the sources of this draft, without a model: each sentence with the source it rests on, and the figures, dates and names that stand in none. It finds what differs, not what is wrong.',
  params: ofDraft,
  response: { 200: answers(schema.check, 'The check.'), ...refusals([...reading, 'conflict']) },
}

export const readCosts = {
  ...inDrafts,
  operationId: 'readCosts',
  summary: 'Read what a client has cost',
  description: 'All sums are those of the ledger.',
  params: ofClient,
  response: { 200: answers(schema.costs, 'The costs.'), ...refusals(reading) },
}

export const listTemplates = {
  ...inTemplates,
  operationId: 'listTemplates',
  summary: 'List the templates',
  response: { 200: answers(schema.templateList, 'By kind, the default first.'), ...refusals(reading) },
}

export const createTemplate = {
  ...inTemplates,
  operationId: 'createTemplate',
  summary: 'Create a template',
  description: 'For partners. A new default replaces the default of its kind.',
  body: schema.newTemplate,
  response: {
    201: answers(schema.template, 'The template.', { ...etag, location: text('Its URL.') }),
    ...refusals(writing),
  },
}

export const changeTemplate = {
  ...inTemplates,
  operationId: 'changeTemplate',
  summary: 'Change a template',
  description: 'For partners.',
  params: ofTemplate,
  documentedHeaders: Type.Object(ifMatch),
  body: schema.templateChange,
  response: {
    200: answers(schema.template, 'The template.', etag),
    ...refusals([...writing, 'precondition_required', 'stale_version']),
  },
}

export const removeTemplate = {
  ...inTemplates,
  operationId: 'removeTemplate',
  summary: 'Remove a template',
  description: 'For partners. Its versions remain.',
  params: ofTemplate,
  documentedHeaders: Type.Object({ 'If-Match': Type.Optional(text('The ETag of the version. Default: any.')) }),
  response: {
    204: answers(Type.Null(), 'It is removed.'),
    ...refusals([...reading, 'invalid_field', 'cross_site_request', 'stale_version']),
  },
}

export const listTemplateRevisions = {
  ...inTemplates,
  operationId: 'listTemplateRevisions',
  summary: 'List the versions of a template',
  params: ofTemplate,
  response: { 200: answers(schema.templateRevisions, 'The newest first.'), ...refusals(reading) },
}
