import { Type, type TObject, type TSchema } from 'typebox'
import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import type { Kind } from './kinds.ts'
import * as schema from './schema.ts'

/** What the document says of each address of client records. */
const reading: readonly ProblemCode[] = [
  'malformed_request',
  'not_signed_in',
  'forbidden',
  'not_found',
  'headers_too_large',
  'internal',
  'unavailable',
]
const asking: readonly ProblemCode[] = [...reading, 'invalid_field', 'unknown_field']
const removing: readonly ProblemCode[] = [
  ...reading,
  'invalid_field',
  'cross_site_request',
  'conflict',
  'stale_version',
]
const writing: readonly ProblemCode[] = [
  ...asking,
  'malformed_json',
  'missing_field',
  'cross_site_request',
  'conflict',
  'request_timeout',
  'request_too_large',
  'unsupported_media_type',
]
const editing: readonly ProblemCode[] = [...writing, 'precondition_required', 'stale_version']

const inRecords = { tags: ['Client records'], ...needsSession }
const text = (description: string) => Type.String({ description })

const clientId = text('The id of the client: a UUIDv7. Anything else is an id that does not exist.')
const clientParams = Type.Object({ client: clientId })
const itemParams = Type.Object({ client: clientId, item: text('The id of what the record holds.') })

const etag = { etag: text('The version, for If-Match.') }
const made = { ...etag, location: text('The address of what was made.') }
const onVersion = {
  documentedHeaders: Type.Object({ 'If-Match': text('The ETag of the version that the change is based on.') }),
}
const once = {
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      text(
        'A UUIDv7. A second request of the same person with the same key makes nothing: it is answered with what the ' +
          'first has made, as it is now, also where that was archived since.',
      ),
    ),
  }),
}
const onVersionIfAny = {
  documentedHeaders: Type.Object({
    'If-Match': Type.Optional(text('The ETag of the version that was looked at; without it, whichever is there.')),
  }),
}

const found = (shape: TSchema, description: string, codes: readonly ProblemCode[], headers = {}) => ({
  200: answers(shape, description, headers),
  ...refusals(codes),
})
const created = (shape: TSchema, description: string) => ({
  201: answers(shape, description, made),
  ...refusals(writing),
})
const edited = (shape: TObject, description: string) => ({
  200: answers(shape, description, etag),
  ...refusals(editing),
  412: { ...schema.staleVersion(shape), description: 'Somebody was quicker. `current` is what is there now.' },
})
const removed = { 204: { description: 'It is gone from everybody.', type: 'null' }, ...refusals(removing) }

const stays = 'What the body leaves out stays as it is. What brings nothing new makes no version.'

export const listClients = {
  ...inRecords,
  operationId: 'listClients',
  summary: 'List clients',
  description: 'The clients that belong to who is signed in; for partners, all.',
  querystring: schema.clientQuery,
  response: found(schema.clientList, 'One page.', asking),
}

export const createClient = {
  ...inRecords,
  ...once,
  operationId: 'createClient',
  summary: 'Make a client',
  description: "It belongs to who makes it; a partner may say to whom. A consultant's two clients share no reference.",
  body: schema.newClient,
  response: created(schema.clientRecord, 'The record.'),
}

export const readClient = {
  ...inRecords,
  operationId: 'readClient',
  summary: 'Read a client record',
  description:
    'The client with notes, disputes and letters. A consultant gets `forbidden` for the client of another and for an ' +
    'id that does not exist, the same bytes; a partner gets `not_found`.',
  params: clientParams,
  response: found(schema.clientRecord, 'The record.', reading, etag),
}

export const changeClient = {
  ...inRecords,
  ...onVersion,
  operationId: 'changeClient',
  summary: 'Change a client',
  description: `${stays} \`consultant_id\` is for partners.`,
  params: clientParams,
  body: schema.clientChange,
  response: edited(schema.clientRecord, 'The record as it is now.'),
}

export const removeClient = {
  ...inRecords,
  ...onVersionIfAny,
  operationId: 'removeClient',
  summary: 'Take a client away',
  description: 'For partners. Its revisions and its rows in the audit log stay.',
  params: clientParams,
  response: removed,
}

export const listRevisions = {
  ...inRecords,
  operationId: 'listClientRevisions',
  summary: 'Read what a client was',
  description: 'The states of the fields of the client itself, the newest first.',
  params: clientParams,
  querystring: schema.revisionQuery,
  response: found(schema.revisionList, 'One page.', asking),
}

export const readActivity = {
  ...inRecords,
  operationId: 'listActivity',
  summary: 'Read what was done to a record',
  description: 'Who did what, the last first; who looked is in it with `reads=true`.',
  params: clientParams,
  querystring: schema.activityQuery,
  response: found(schema.activityList, 'One page.', asking),
}

export const search = {
  ...inRecords,
  operationId: 'searchRecords',
  summary: 'Search records',
  description: 'Finds the beginnings of words in clients, notes, disputes and letters, within what one may see.',
  querystring: schema.searchQuery,
  response: found(schema.searchResults, 'What was found.', asking),
}

/** The same six addresses for notes, disputes and letters. */
export function itemOperations({ noun, plural, shape, listShape, newBody, changeBody }: Kind) {
  const [one, name] = [`a ${noun}`, `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`]
  return {
    list: {
      ...inRecords,
      operationId: `list${name}s`,
      summary: `List ${plural}`,
      description: `The ${plural} of a client.`,
      params: clientParams,
      response: found(listShape, `The ${plural}.`, reading),
    },
    create: {
      ...inRecords,
      ...once,
      operationId: `create${name}`,
      summary: `Make ${one}`,
      description: `Puts ${one} on the record of a client.`,
      params: clientParams,
      body: newBody,
      response: created(shape, `The ${noun}.`),
    },
    read: {
      ...inRecords,
      operationId: `read${name}`,
      summary: `Read ${one}`,
      description: `One of the client's ${plural}.`,
      params: itemParams,
      response: found(shape, `The ${noun}.`, reading, etag),
    },
    change: {
      ...inRecords,
      ...onVersion,
      operationId: `change${name}`,
      summary: `Change ${one}`,
      description: stays,
      params: itemParams,
      body: changeBody,
      response: edited(shape, `The ${noun} as it is now.`),
    },
    archive: {
      ...inRecords,
      ...onVersionIfAny,
      operationId: `archive${name}`,
      summary: `Take ${one} off the record`,
      description: 'Its revisions stay.',
      params: itemParams,
      response: removed,
    },
    revisions: {
      ...inRecords,
      operationId: `list${name}Revisions`,
      summary: `Read what ${one} was`,
      description: 'Its states, the newest first, also when it was taken off the record.',
      params: itemParams,
      querystring: schema.revisionQuery,
      response: found(schema.revisionList, 'One page.', asking),
    },
  }
}
