import { Type } from 'typebox'
import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations on a client's data. */
const reading: readonly ProblemCode[] = [
  'malformed_request',
  'not_signed_in',
  'forbidden',
  'headers_too_large',
  'internal',
  'unavailable',
]
const changing: readonly ProblemCode[] = [...reading, 'not_found', 'cross_site_request']

const inData = { tags: ["A client's data"], ...needsSession }
const clientParams = Type.Object({ client: Type.String({ description: 'The id of the client.' }) })

export const exportClient = {
  ...inData,
  operationId: 'exportClient',
  summary: 'Export a client',
  description:
    'A ZIP file: the client; its notes, disputes, letters, documents, tasks, contacts, time entries and expenses, archived ones and all revisions included; the mails with its letters, the reviews of them, its timers, its drafts and costs, ' +
    'its letters as PDF files, and the files of its documents. A letter whose characters the fonts lack is a Word file instead. For partners it also has the ' +
    'audit log of the client.',
  params: clientParams,
  response: refusals([...reading, 'not_found', 'recent_sign_in_required']),
}

export const previewErasure = {
  ...inData,
  operationId: 'previewErasure',
  summary: 'Preview the erasure of a client',
  description: 'Only for partners. What would be lost with the client, for example unbilled work.',
  params: clientParams,
  response: { 200: answers(schema.erasureEffects, 'The effects.'), ...refusals([...reading, 'not_found']) },
}

export const scheduleErasure = {
  ...inData,
  operationId: 'scheduleErasure',
  summary: 'Schedule the erasure of a client',
  description:
    'Only for partners. After the waiting period (`retention.erasure_after`), the texts of the record and the names are ' +
    'removed for good, also from earlier versions. The charges and the audit log keep the id. Until then the record works ' +
    'as usual, and the erasure can be withdrawn. A deleted client can be erased too.',
  params: clientParams,
  body: schema.newErasure,
  response: {
    201: answers(schema.listedErasure, 'The erasure.'),
    ...refusals([
      ...changing,
      'recent_sign_in_required',
      'malformed_json',
      'missing_field',
      'invalid_field',
      'unknown_field',
      'conflict',
      'request_timeout',
      'request_too_large',
      'unsupported_media_type',
    ]),
  },
}

export const withdrawErasure = {
  ...inData,
  operationId: 'withdrawErasure',
  summary: 'Withdraw the erasure of a client',
  description: 'Only for partners, and only before it is performed.',
  params: clientParams,
  response: { 204: { description: 'Done.', type: 'null' }, ...refusals(changing) },
}

export const listErasures = {
  ...inData,
  operationId: 'listErasures',
  summary: 'List erasures',
  description: 'Those that are scheduled, the next one first, or those that were performed. Only for partners.',
  querystring: schema.erasureQuery,
  response: {
    200: answers(schema.erasureList, 'The erasures.'),
    ...refusals([...reading, 'invalid_field', 'unknown_field']),
  },
}
