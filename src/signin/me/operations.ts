import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfBody } from '../../platform/http/openapi.ts'
import type { ProblemCode } from '../../platform/problems.ts'
import * as schema from './schema.ts'
import { always } from '../operations.ts'
import { begunFactor } from '../schema.ts'

/** The OpenAPI operations of /me. */
const text = (description: string) => Type.String({ description })
const inMe = { tags: ['Account'], ...needsSession }
const own: readonly ProblemCode[] = [...always, 'not_signed_in']

export const readMe = {
  ...inMe,
  operationId: 'readMe',
  summary: 'Read who is signed in',
  description: 'The person, their sessions and last sign-ins, and how they sign in.',
  response: { 200: answers(schema.me, 'The person.'), ...refusals(own) },
}

export const endSession = {
  ...inMe,
  operationId: 'endSession',
  summary: 'End one of your sessions',
  params: Type.Object({ id: text('The id of the session.') }),
  response: {
    200: answers(schema.endedSessions, 'The number of sessions that ended.'),
    ...refusals([...own, 'cross_site_request', 'not_found']),
  },
}

export const endSessions = {
  ...inMe,
  operationId: 'endSessions',
  summary: 'End all your sessions',
  response: {
    200: answers(schema.endedSessions, 'The number of sessions that ended.'),
    ...refusals([...own, 'cross_site_request']),
  },
}

const confirming: readonly ProblemCode[] = [
  ...own,
  ...refusalsOfBody,
  'cross_site_request',
  'not_found',
  'sign_in_failed',
  'too_many_sign_ins',
]

export const startConfirmation = {
  ...inMe,
  operationId: 'startConfirmation',
  summary: 'Start confirming who you are',
  body: schema.BeginConfirmationBody,
  response: { 200: answers(begunFactor, 'The challenge.'), ...refusals([...confirming, 'sms_failed']) },
}

export const completeConfirmation = {
  ...inMe,
  operationId: 'completeConfirmation',
  summary: 'Confirm who you are',
  description:
    'Counts as a new sign-in for changes that need a recent one. `input` has the `code` (`totp`, `sms`, `recovery_code`), the `credential` (`passkey`) or the `password`. The session gets a new cookie, and the old one ends.',
  body: schema.CompleteConfirmationBody,
  response: { 200: answers(schema.confirmed, 'Confirmed.'), ...refusals(confirming) },
}

const changing: readonly ProblemCode[] = [
  ...own,
  'cross_site_request',
  'recent_sign_in_required',
  'not_found',
  'conflict',
]
const submitting: readonly ProblemCode[] = [...changing, ...refusalsOfBody, 'sign_in_failed']
const recent = 'Needs a sign-in within the last 10 minutes. Ends all other sessions of the person.'
const factor = Type.Object({ id: text('The id of the second factor: `totp`, `passkey` or `sms`.') })
const passkey = Type.Object({ id: text('The id of the passkey.') })

export const startOwnFactor = {
  ...inMe,
  operationId: 'startOwnFactor',
  summary: 'Start setting up a second factor',
  description: 'Needs a sign-in within the last 10 minutes. For `sms`, `input` has the `number`.',
  params: factor,
  body: schema.BeginOwnFactorBody,
  response: {
    200: answers(begunFactor, 'The challenge.'),
    ...refusals([...submitting, 'too_many_sign_ins', 'sms_failed']),
  },
}

export const completeOwnFactor = {
  ...inMe,
  operationId: 'completeOwnFactor',
  summary: 'Complete the set-up of a second factor',
  description: `${recent} Creates recovery codes if the person has none.`,
  params: factor,
  body: schema.CompleteOwnFactorBody,
  response: { 200: answers(schema.changedFactor, 'It is set up.'), ...refusals(submitting) },
}

export const removeOwnFactor = {
  ...inMe,
  operationId: 'removeOwnFactor',
  summary: 'Remove a second factor',
  description: `${recent} \`passkey\` removes all passkeys.`,
  params: factor,
  response: { 200: answers(schema.changedFactor, 'It is removed.'), ...refusals(changing) },
}

export const renewRecoveryCodes = {
  ...inMe,
  operationId: 'renewRecoveryCodes',
  summary: 'Create new recovery codes',
  description: `${recent} Earlier codes no longer work.`,
  response: { 200: answers(schema.changedFactor, 'The codes.'), ...refusals(changing) },
}

export const renamePasskey = {
  ...inMe,
  operationId: 'renamePasskey',
  summary: 'Rename a passkey',
  description: 'Needs a sign-in within the last 10 minutes.',
  params: passkey,
  body: schema.RenamePasskeyBody,
  response: { 200: answers(schema.renamedPasskey, 'The passkey.'), ...refusals(submitting) },
}

export const removePasskey = {
  ...inMe,
  operationId: 'removePasskey',
  summary: 'Remove a passkey',
  description: recent,
  params: passkey,
  response: { 200: answers(schema.changedFactor, 'It is removed.'), ...refusals(changing) },
}

export const unlinkIdentity = {
  ...inMe,
  operationId: 'unlinkIdentity',
  summary: 'Unlink an account at a provider',
  description: recent,
  params: Type.Object({ id: text('The id of the identity.') }),
  response: { 200: answers(schema.changedFactor, 'It is unlinked.'), ...refusals(changing) },
}

export const createOwnCalendar = {
  ...inMe,
  operationId: 'createOwnCalendar',
  summary: 'Create the address of your calendar',
  description:
    'Needs a sign-in within the last 10 minutes. Calendar programs read the open tasks of the person at this address, with the names of clients and without a sign-in. An earlier address no longer works. It ends when all other sessions of the person end, and when their role changes.',
  response: {
    201: answers(schema.createdCalendar, 'The address.'),
    ...refusals([...own, 'forbidden', 'cross_site_request', 'recent_sign_in_required']),
  },
}

export const removeOwnCalendar = {
  ...inMe,
  operationId: 'removeOwnCalendar',
  summary: 'Remove the address of your calendar',
  response: {
    204: { description: 'It is removed.', type: 'null' },
    ...refusals([...own, 'cross_site_request', 'not_found']),
  },
}

export const turnTaskMailOn = {
  ...inMe,
  operationId: 'turnTaskMailOn',
  summary: 'Have your tasks mailed in the morning',
  description:
    'From the next day on: the open tasks that are overdue or due on the day, with their titles and days, from Monday to Friday at `tasks.mail_from`. Nothing is mailed on days without such tasks.',
  response: {
    200: answers(schema.turnedTaskMail, 'It is on.'),
    ...refusals([...own, 'forbidden', 'cross_site_request', 'conflict']),
  },
}

export const turnTaskMailOff = {
  ...inMe,
  operationId: 'turnTaskMailOff',
  summary: 'Stop the mail with your tasks',
  response: { 200: answers(schema.turnedTaskMail, 'It is off.'), ...refusals([...own, 'cross_site_request']) },
}
