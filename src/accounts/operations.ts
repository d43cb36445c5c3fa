import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfBody, refusalsOfPeople } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of /accounts and /keys. All are for partners. */
const reading: readonly ProblemCode[] = [...refusalsOfPeople, 'not_found']
const acting: readonly ProblemCode[] = [...reading, 'cross_site_request']
const writing: readonly ProblemCode[] = [...acting, ...refusalsOfBody, 'conflict']

const text = (description: string) => Type.String({ description })
const inAccounts = { tags: ['Accounts and keys'], ...needsSession }
const params = Type.Object({ account: text('The id of the account.') })
const keyParams = Type.Object({ key: text('The id of the key.') })
const etag = { etag: text('Identifies the name, the limits and the billing details, to send back in If-Match.') }
const idempotent = (repeated: string) => ({
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(text(`A UUIDv7. ${repeated}`)),
  }),
})

export const listAccounts = {
  ...inAccounts,
  operationId: 'listAccounts',
  summary: 'List accounts',
  description:
    'All accounts, closed ones included. For partners; for developers, the accounts that they were granted, without billing details.',
  response: { 200: answers(schema.accountList, 'The accounts.'), ...refusals(refusalsOfPeople) },
}

export const createAccount = {
  ...inAccounts,
  ...idempotent('A repeated request with the same key creates nothing and gets the account in its current state.'),
  operationId: 'createAccount',
  summary: 'Create an account',
  description: 'Prepaid with `credit`, or billed in arrears up to `monthly_limit`. For partners.',
  body: schema.newAccountBody,
  response: {
    201: answers(schema.accountShown, 'The account.', { ...etag, location: text('The URL of the account.') }),
    ...refusals([...writing, 'recent_sign_in_required']),
  },
}

export const readAccount = {
  ...inAccounts,
  operationId: 'readAccount',
  summary: 'Read an account',
  description: 'For partners; without billing details and ETag for developers who were granted the account.',
  params,
  response: { 200: answers(schema.accountRead, 'The account.', etag), ...refusals(reading) },
}

export const changeAccount = {
  ...inAccounts,
  documentedHeaders: Type.Object({ 'If-Match': text('The ETag of the account that the change is based on, or `*`.') }),
  operationId: 'changeAccount',
  summary: "Change an account's name, limits and billing details",
  description: 'Fields missing from the body keep their values. For partners.',
  params,
  body: schema.accountChange,
  response: {
    200: answers(schema.accountShown, 'The account.', etag),
    ...refusals([...writing, 'recent_sign_in_required', 'precondition_required', 'stale_version']),
  },
}

export const closeAccount = {
  ...inAccounts,
  operationId: 'closeAccount',
  summary: 'Close an account',
  description:
    'Its keys are refused within a second. Requests in flight are still charged. It cannot be opened again. For partners.',
  params,
  response: { 200: answers(schema.accountShown, 'The account.', etag), ...refusals(acting) },
}

export const listCredit = {
  ...inAccounts,
  operationId: 'listCredit',
  summary: "List an account's credit entries",
  description: 'Credit added and withdrawn, newest first. For partners.',
  params,
  querystring: schema.creditQuery,
  response: {
    200: answers(schema.creditList, 'One page.'),
    ...refusals([...reading, 'invalid_field', 'unknown_field']),
  },
}

export const addCredit = {
  ...inAccounts,
  ...idempotent(
    'A repeated request with the same key adds nothing. With another amount or note it is refused with `idempotency_mismatch`.',
  ),
  operationId: 'addCredit',
  summary: 'Add or withdraw credit',
  description: 'At most the credit left can be withdrawn. For partners.',
  params,
  body: schema.creditBody,
  response: {
    201: answers(schema.accountShown, 'The account.', etag),
    ...refusals([...writing, 'recent_sign_in_required', 'idempotency_mismatch']),
  },
}

export const listKeys = {
  ...inAccounts,
  operationId: 'listKeys',
  summary: "List an account's keys",
  description:
    "Without their secrets. For partners, and for developers who were granted the account: without other people's scratch keys.",
  params,
  response: { 200: answers(schema.keyList, 'All keys of the account.'), ...refusals(reading) },
}

export const createKey = {
  ...inAccounts,
  ...idempotent(
    'A repeated request with the same key creates nothing. It is refused with `conflict`, because a key is sent only once.',
  ),
  operationId: 'createKey',
  summary: 'Create a key',
  description: 'The key itself appears only in this response. For partners.',
  params,
  body: schema.newKeyBody,
  response: { 201: answers(schema.keyIssued, 'The key.'), ...refusals([...writing, 'recent_sign_in_required']) },
}

export const rotateKey = {
  ...inAccounts,
  operationId: 'rotateKey',
  summary: 'Replace a key',
  description:
    'Creates a key with the same account, name, models and lifetime, which shares the limits and budgets of the old one. The old ' +
    'key stays valid for the overlap. For partners.',
  params: keyParams,
  body: schema.rotationBody,
  response: { 201: answers(schema.keyIssued, 'The new key.'), ...refusals([...writing, 'recent_sign_in_required']) },
}

export const limitKey = {
  ...inAccounts,
  operationId: 'limitKey',
  summary: "Change a key's limits and budgets",
  description:
    'Fields missing from the body keep their values; null removes a limit. These limits apply in ' +
    'addition to the limits and the credit of the account. A key and its replacements share their limits and spending. Takes effect within a ' +
    'second. For partners, with a sign-in within the last 10 minutes.',
  params: keyParams,
  body: schema.keyLimitsBody,
  response: { 200: answers(schema.keyShown, 'The key.'), ...refusals([...writing, 'recent_sign_in_required']) },
}

export const revokeKey = {
  ...inAccounts,
  operationId: 'revokeKey',
  summary: 'Revoke a key',
  description: 'Every instance refuses it within a second. It cannot be undone. For partners.',
  params: keyParams,
  response: { 204: { description: 'The key is revoked.', type: 'null' }, ...refusals(acting) },
}
