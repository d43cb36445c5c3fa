import { Type, type TObject, type TSchema } from 'typebox'
import { answers, needsSession, refusals, refusalsOfBody, refusalsOfPeople } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import type { ItemKind } from './items/kinds.ts'
import { letterMailBody, letterMailList, proposedLetterMail } from './letters/mail/schema.ts'
import { letterReturnBody, letterReviewBody, letterReviewList } from './letters/review/schema.ts'
import * as schema from './schema.ts'
import { newTimer, ownTimer, timer, timerQuery } from './timer/schema.ts'

/** The OpenAPI operations of client records, and the problem codes that each can return. */
const reading: readonly ProblemCode[] = [...refusalsOfPeople, 'not_found', 'headers_too_large']
const querying: readonly ProblemCode[] = [...reading, 'invalid_field', 'unknown_field']
const removing: readonly ProblemCode[] = [
  ...reading,
  'invalid_field',
  'cross_site_request',
  'conflict',
  'stale_version',
]
const writing: readonly ProblemCode[] = [
  ...reading,
  ...refusalsOfBody,
  'cross_site_request',
  'conflict',
  'request_timeout',
]
const editing: readonly ProblemCode[] = [...writing, 'precondition_required', 'stale_version']

const inRecords = { tags: ['Client records'], ...needsSession }
const text = (description: string) => Type.String({ description })

const clientId = text('The id of the client: a UUIDv7. Anything else is an id that does not exist.')
const clientParams = Type.Object({ client: clientId })
const itemParams = Type.Object({ client: clientId, item: text('The id of the item.') })

const etag = { etag: text('The version, to send back in If-Match.') }
const createdHeaders = { ...etag, location: text('The URL of the new resource.') }
const requiredVersion = {
  documentedHeaders: Type.Object({ 'If-Match': text('The ETag of the version that the change is based on.') }),
}
const idempotent = {
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      text(
        'A UUIDv7. A repeated request by the same person with the same key creates nothing. It returns what the first ' +
          'request created, in its current state, even if it is archived by now.',
      ),
    ),
  }),
}
const optionalVersion = {
  documentedHeaders: Type.Object({
    'If-Match': Type.Optional(text('The ETag of the version that the request applies to. Default: any version.')),
  }),
}

const found = (shape: TSchema, description: string, codes: readonly ProblemCode[], headers = {}) => ({
  200: answers(shape, description, headers),
  ...refusals(codes),
})
const created = (shape: TSchema, description: string) => ({
  201: answers(shape, description, createdHeaders),
  ...refusals(writing),
})
const edited = (shape: TObject, description: string, more: readonly ProblemCode[] = []) => ({
  200: answers(shape, description, etag),
  ...refusals([...editing, ...more]),
  412: {
    ...schema.staleVersion(shape),
    description: 'It has changed since the version in `If-Match`. `current` is its current state.',
  },
})
const restored = (shape: TObject, description: string) => ({
  200: answers(shape, description, etag),
  ...refusals(removing),
  412: {
    ...schema.staleVersion(shape),
    description: 'It has changed since the version in `If-Match`. `current` is its current state.',
  },
})
const removed = {
  204: { description: 'Done. It no longer appears in lists and searches.', type: 'null' },
  ...refusals(removing),
}

const partialUpdate =
  'Fields missing from the body keep their values. A request that changes nothing creates no revision.'

export const listClients = {
  ...inRecords,
  operationId: 'listClients',
  summary: 'List clients',
  description: 'A consultant sees their own clients; a partner sees all.',
  querystring: schema.clientQuery,
  response: found(schema.clientList, 'One page.', querying),
}

export const createClient = {
  ...inRecords,
  ...idempotent,
  operationId: 'createClient',
  summary: 'Create a client',
  description:
    'The client belongs to the person who creates it, unless a partner sends `consultant_id`. References are unique per consultant.',
  body: schema.newClient,
  response: created(schema.clientRecord, 'The record.'),
}

export const handOverClients = {
  ...inRecords,
  operationId: 'handOverClients',
  summary: 'Hand over selected clients',
  description:
    'Assigns up to 1,000 clients, archived ones included, to a person, or none of them. Each is named with the version that you ' +
    'read, and any that has changed since refuses all. Only for partners.',
  body: schema.selectedHandover,
  response: {
    200: answers(schema.selectedHandedOver, 'The number of clients.'),
    ...refusals([...writing, 'stale_version', 'recent_sign_in_required']),
    412: {
      ...schema.staleVersion(schema.changedSelection),
      description: 'Some have changed since. `current` is their current state.',
    },
  },
}

export const readClient = {
  ...inRecords,
  operationId: 'readClient',
  summary: 'Read a client record',
  description:
    'The client with its notes, disputes and letters. A consultant gets the same `forbidden` response for another ' +
    "consultant's client and for an id that does not exist; a partner gets `not_found`.",
  params: clientParams,
  response: found(schema.clientRecord, 'The record.', reading, etag),
}

export const changeClient = {
  ...inRecords,
  ...requiredVersion,
  operationId: 'changeClient',
  summary: 'Change a client',
  description: `${partialUpdate} Only partners may send \`consultant_id\`, with a sign-in within the last 10 minutes.`,
  params: clientParams,
  body: schema.clientChange,
  response: edited(schema.clientRecord, 'The record as it is now.', ['recent_sign_in_required']),
}

export const deleteClient = {
  ...inRecords,
  ...optionalVersion,
  operationId: 'deleteClient',
  summary: 'Delete a client',
  description: 'Only for partners. The record, its revisions and its audit events are kept. It can be restored.',
  params: clientParams,
  response: removed,
}

export const restoreClient = {
  ...inRecords,
  operationId: 'restoreClient',
  summary: 'Restore a deleted client',
  description: 'Only for partners. A client that is not deleted stays as it is.',
  params: clientParams,
  response: found(
    schema.clientRecord,
    'The record as it is now.',
    removing.filter((code) => code !== 'stale_version'),
    etag,
  ),
}

export const listRevisions = {
  ...inRecords,
  operationId: 'listClientRevisions',
  summary: "List a client's revisions",
  description: 'Earlier and current values of the fields of the client itself, newest first.',
  params: clientParams,
  querystring: schema.revisionQuery,
  response: found(schema.revisionList, 'One page.', querying),
}

export const listActivity = {
  ...inRecords,
  operationId: 'listActivity',
  summary: "List a record's activity",
  description: 'Who did what, newest first. `reads=true` includes reads.',
  params: clientParams,
  querystring: schema.activityQuery,
  response: found(schema.activityList, 'One page.', querying),
}

export const searchRecords = {
  ...inRecords,
  operationId: 'searchRecords',
  summary: 'Search records',
  description:
    'Searches by word prefix in all clients, notes, disputes, letters, documents, tasks and contacts that the person may see.',
  querystring: schema.searchQuery,
  response: found(schema.searchResults, 'The matches.', querying),
}

export const createLetterVersion = {
  ...inRecords,
  ...idempotent,
  operationId: 'createLetterVersion',
  summary: 'Start a new version of a letter',
  description: 'Creates a draft with the subject and the text of the letter. The letter may have been sent.',
  params: itemParams,
  response: created(schema.letter, 'The new letter.'),
}

/** Not possible without a configured mail server, nor for a draft or an archived letter. */
const mailing: readonly ProblemCode[] = [...writing, 'precondition_required', 'overloaded']
const asMailed = answers(letterMailList, 'The mails with the letter.')

export const proposeLetterMail = {
  ...inRecords,
  operationId: 'proposeLetterMail',
  summary: 'Read what a mail with a letter would say',
  description: 'To whom an approved or sent letter can be mailed, and the subject and the text unless others are sent.',
  params: itemParams,
  response: found(proposedLetterMail, 'The recipients and the words.', [...reading, 'conflict']),
}

export const sendLetter = {
  ...inRecords,
  operationId: 'sendLetter',
  summary: 'Send a letter by mail',
  description:
    'Mails the PDF of an approved letter to the client or to contacts of it, and marks the letter as sent. Each mail is queued, retried for five days, ' +
    'and kept as it was sent. A sent letter can be mailed again, with the same file. `If-Match` has the version of the letter.',
  documentedHeaders: Type.Object({
    ...requiredVersion.documentedHeaders.properties,
    ...idempotent.documentedHeaders.properties,
  }),
  params: itemParams,
  body: letterMailBody,
  response: {
    201: asMailed,
    ...refusals(mailing),
    412: {
      ...schema.staleVersion(schema.letter),
      description:
        'The letter has changed since the version in `If-Match`. `current` is its current state. Nothing was sent.',
    },
  },
}

export const listLetterMails = {
  ...inRecords,
  operationId: 'listLetterMails',
  summary: 'List the mails with a letter',
  description: 'As they were sent, in order.',
  params: itemParams,
  response: found(letterMailList, 'The mails.', reading),
}

export const readMailedLetter = {
  ...inRecords,
  operationId: 'readMailedLetter',
  summary: 'Read the PDF of a mail with a letter',
  description: 'The file that was attached, byte for byte as it was sent. Its SHA-256 is `file_digest`.',
  params: Type.Object({ ...itemParams.properties, mail: text('The id of the mail.') }),
  response: refusals(reading),
}

const timerParams = Type.Object({ timer: text('The id of the timer.') })

export const readTimer = {
  ...inRecords,
  operationId: 'readTimer',
  summary: 'Read your timer',
  description:
    'The timer that you have started, also after it was stopped. It ends by itself when you no longer see the client, when your role changes, and when you are disabled.',
  querystring: timerQuery,
  response: found(ownTimer, 'The timer, or null.', querying),
}

export const startTimer = {
  ...inRecords,
  ...idempotent,
  operationId: 'startTimer',
  summary: 'Start a timer',
  description:
    'Measures the time of your work for a client. You have one timer at a time, on all devices together: with another one, `conflict`.',
  params: clientParams,
  body: newTimer,
  response: { 201: answers(timer, 'The timer.'), ...refusals(writing) },
}

export const stopTimer = {
  ...inRecords,
  operationId: 'stopTimer',
  summary: 'Stop a timer',
  description:
    'The time is not recorded by that. To record it, create a time entry with `minutes`, and the id of the timer as `Idempotency-Key`, so that it is recorded once; then remove the timer.',
  params: timerParams,
  response: found(timer, 'The timer.', [...reading, 'cross_site_request']),
}

export const endTimer = {
  ...inRecords,
  operationId: 'endTimer',
  summary: 'Remove a timer',
  description: 'After its time was recorded, or to delete it without that.',
  params: timerParams,
  response: { 204: { description: 'Done.', type: 'null' }, ...refusals([...reading, 'cross_site_request']) },
}

const reviewParams = Type.Object({ ...itemParams.properties, review: text('The id of the review.') })
const staleLetter = {
  ...schema.staleVersion(schema.letter),
  description: 'The letter has changed since the version in `If-Match`. `current` is its current state.',
}

export const listLetterReviews = {
  ...inRecords,
  operationId: 'listLetterReviews',
  summary: 'List the reviews of a letter',
  description: 'With the people whom you can ask for one, and who may approve the letter.',
  params: itemParams,
  response: found(letterReviewList, 'The reviews.', reading),
}

export const askLetterReview = {
  ...inRecords,
  operationId: 'askLetterReview',
  summary: 'Ask for a review of a letter',
  description:
    'Asks a person who can read the record to review a draft. They get a mail, if a mail server is configured, and see it on their overview. It gives nobody access. ' +
    '`If-Match` has the version of the letter.',
  documentedHeaders: Type.Object({
    ...requiredVersion.documentedHeaders.properties,
    ...idempotent.documentedHeaders.properties,
  }),
  params: itemParams,
  body: letterReviewBody,
  response: {
    201: answers(letterReviewList, 'The reviews, with the new one.'),
    ...refusals(editing),
    412: staleLetter,
  },
}

export const returnLetter = {
  ...inRecords,
  ...requiredVersion,
  operationId: 'returnLetter',
  summary: 'Return a letter after a review',
  description:
    'Ends the review with a reason, for the person who asked. Only the reviewer can do this. To approve the letter, change its `status`: that ends all its reviews. ' +
    '`If-Match` has the version of the letter that was read.',
  params: reviewParams,
  body: letterReturnBody,
  response: {
    200: answers(letterReviewList, 'The reviews.'),
    ...refusals(editing),
    412: staleLetter,
  },
}

export const withdrawLetterReview = {
  ...inRecords,
  operationId: 'withdrawLetterReview',
  summary: 'Withdraw a review of a letter',
  description: 'Ends the review without an answer. Everyone who works on the record can do this.',
  params: reviewParams,
  response: {
    204: { description: 'Done.', type: 'null' },
    ...refusals([...reading, 'cross_site_request', 'conflict']),
  },
}

const uploadParams = Type.Object({ client: clientId, upload: text('The id of the upload.') })
const uploading: readonly ProblemCode[] = [
  ...reading,
  'missing_field',
  'invalid_field',
  'cross_site_request',
  'conflict',
  'request_timeout',
  'request_too_large',
]
const bytesOfFile = 'The bytes of the file, as they are. Their type is found from them, whatever `Content-Type` says.'

export const startUpload = {
  ...inRecords,
  operationId: 'startUpload',
  summary: 'Upload a file',
  description:
    'Stores the bytes of a file, at most 100,000,000, encrypted. Then create a document with its `digest`, or a new version of one. ' +
    'A large file can be sent in several requests: `Upload-Length` is the size of the whole. What has arrived of a request that broke ' +
    'off is kept. Bytes of which no document is made within 24 hours are removed.',
  params: clientParams,
  documentedHeaders: Type.Object({
    'Upload-Length': Type.Optional(text('The number of bytes of the whole file. Default: that of this body.')),
    ...idempotent.documentedHeaders.properties,
  }),
  documentedBytes: bytesOfFile,
  response: {
    201: answers(schema.upload, 'The upload.', { location: text('The URL of the upload.') }),
    ...refusals(uploading),
  },
}

export const continueUpload = {
  ...inRecords,
  operationId: 'continueUpload',
  summary: 'Continue an upload',
  description:
    'Adds bytes to an upload. If it continues elsewhere, because a request broke off or was repeated, `conflict` has its current state in `current`.',
  params: uploadParams,
  documentedHeaders: Type.Object({
    'Upload-Offset': text('The number of bytes that are stored already: `received` of the upload.'),
  }),
  documentedBytes: 'The next bytes of the file.',
  response: found(schema.upload, 'The upload.', uploading),
}

export const readUpload = {
  ...inRecords,
  operationId: 'readUpload',
  summary: 'Read the state of an upload',
  description: 'How much has arrived. An upload can be read for 24 hours after its last change.',
  params: uploadParams,
  response: found(schema.upload, 'The upload.', reading),
}

export const downloadDocument = {
  ...inRecords,
  operationId: 'downloadDocument',
  summary: 'Download a document',
  description:
    'The bytes of a document, archived ones included, as they were uploaded. The headers make every browser save them: none shows them as a page or runs them.',
  params: itemParams,
  querystring: schema.contentQuery,
  response: refusals([...querying, 'conflict']),
}

const fileNames: Readonly<Record<string, readonly [operationId: string, summary: string]>> = {
  pdf: ['downloadLetterPdf', 'Download a letter as PDF'],
  docx: ['downloadLetterDocx', 'Download a letter for Word'],
  print: ['printLetter', 'Read a letter as a page to print'],
}

/** The operation that returns a letter as a file. */
export function letterFile(format: string) {
  const [operationId = '', summary = ''] = fileNames[format] ?? []
  return {
    ...inRecords,
    operationId,
    summary,
    description:
      "With the firm's letterhead, the client's address, the date, the closing and the author's name. The response is the " +
      'file. The PDF of a letter whose characters its fonts lack is refused with `conflict`.',
    params: itemParams,
    response: refusals([...reading, 'conflict', 'overloaded']),
  }
}

/** The operations on one kind of item. */
export function itemOperations({ noun: nounName, plural: pluralName, ...shapes }: ItemKind) {
  const { shape, listShape, newBody, changeBody, pagedBy } = shapes
  const [noun, plural] = [nounName.replace('_', ' '), pluralName.replace('_', ' ')]
  const [one, name] = [`${noun.startsWith('e') ? 'an' : 'a'} ${noun}`, pascalCase(nounName)]
  return {
    list: {
      ...inRecords,
      operationId: `list${pascalCase(pluralName)}`,
      summary: `List ${plural}`,
      description: pagedBy
        ? `The ${plural} of a client, the latest first. Archived ones are listed apart.`
        : `The ${plural} of a client. Archived ones are listed apart, the latest first.`,
      params: clientParams,
      querystring: schema.itemQuery,
      response: found(listShape, `The ${plural}.`, querying),
    },
    create: {
      ...inRecords,
      ...idempotent,
      operationId: `create${name}`,
      summary: `Create ${one}`,
      description: `Adds ${one} to a client's record.`,
      params: clientParams,
      body: newBody,
      response: created(shape, `The ${noun}.`),
    },
    read: {
      ...inRecords,
      operationId: `read${name}`,
      summary: `Read ${one}`,
      description: `One of the client's ${plural}, archived ones included.`,
      params: itemParams,
      response: found(shape, `The ${noun}.`, reading, etag),
    },
    change: {
      ...inRecords,
      ...requiredVersion,
      operationId: `change${name}`,
      summary: `Change ${one}`,
      description: partialUpdate,
      params: itemParams,
      body: changeBody,
      response: edited(shape, `The ${noun} as it is now.`),
    },
    archive: {
      ...inRecords,
      ...optionalVersion,
      operationId: `archive${name}`,
      summary: `Archive ${one}`,
      description: 'Its revisions are kept, and it can be restored.',
      params: itemParams,
      response: removed,
    },
    restore: {
      ...inRecords,
      ...optionalVersion,
      operationId: `restore${name}`,
      summary: `Restore ${one}`,
      description: `Returns an archived ${noun} to the record. One that is not archived stays as it is.`,
      params: itemParams,
      response: restored(shape, `The ${noun} as it is now.`),
    },
    revisions: {
      ...inRecords,
      operationId: `list${name}Revisions`,
      summary: `List the revisions of ${one}`,
      description: 'Newest first. Works for an archived item too.',
      params: itemParams,
      querystring: schema.revisionQuery,
      response: found(schema.revisionList, 'One page.', querying),
    },
  }
}

/** `time_entry` → `TimeEntry`. */
function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())
}
