import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfBody, refusalsOfPeople } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of /people. */
const writing: readonly ProblemCode[] = [...refusalsOfPeople, 'cross_site_request', 'not_found']
const changing: readonly ProblemCode[] = [...writing, ...refusalsOfBody, 'conflict']
const recent: ProblemCode = 'recent_sign_in_required'

const inPeople = { tags: ['People'], ...needsSession }
const params = Type.Object({ id: Type.String({ description: 'The id of the person.' }) })
const invitationParams = Type.Object({ id: Type.String({ description: 'The id of the invitation.' }) })

export const listPeople = {
  ...inPeople,
  operationId: 'listPeople',
  summary: 'List people',
  description: 'Everyone who can sign in, and the open invitations. For partners.',
  response: { 200: answers(schema.peopleList, 'All people.'), ...refusals(refusalsOfPeople) },
}

export const changePerson = {
  ...inPeople,
  operationId: 'changePerson',
  summary: 'Change a person',
  description:
    'Changes the name, the role, the status or the address. All but a new name end all sessions of the person. For partners, with a sign-in within the last 10 minutes.',
  params,
  body: schema.PersonChangeBody,
  response: { 200: answers(schema.listedPerson, 'The person.'), ...refusals([...changing, recent]) },
}

export const endPersonSessions = {
  ...inPeople,
  operationId: 'endPersonSessions',
  summary: 'End all sessions of a person',
  description: 'The person is signed out everywhere. For partners.',
  params,
  response: { 200: answers(schema.endedSessionsOfPerson, 'The number of sessions that ended.'), ...refusals(writing) },
}

export const endAllSessions = {
  ...inPeople,
  operationId: 'endAllSessions',
  summary: 'End all sessions of everyone',
  description: 'Everyone is signed out, the sender included. For partners.',
  response: { 200: answers(schema.endedSessionsOfPerson, 'The number of sessions that ended.'), ...refusals(writing) },
}

export const unlinkIdentities = {
  ...inPeople,
  operationId: 'unlinkIdentities',
  summary: "Unlink a person's accounts at providers",
  description:
    'For a person who got a new account at the provider: the next identity whose provider vouches for their address is linked to them. For partners, with a sign-in within the last 10 minutes.',
  params,
  response: {
    200: answers(schema.unlinkedIdentities, 'The number of identities.'),
    ...refusals([...writing, 'conflict', recent]),
  },
}

export const resetFactors = {
  ...inPeople,
  operationId: 'resetFactors',
  summary: "Remove a person's second factors",
  description:
    'For a person who lost theirs. Also removes passkeys and recovery codes, ends all sessions, and sends a mail. The person sets up new ones. For partners, with a sign-in within the last 10 minutes.',
  params,
  response: {
    204: { description: 'They are removed.', type: 'null' },
    ...refusals([...writing, 'conflict', recent]),
  },
}

export const deletePerson = {
  ...inPeople,
  operationId: 'deletePerson',
  summary: 'Delete a person',
  description:
    'Removes everything the person signs in with, and frees their address. The name stays in revisions and in the audit log. Refused while the person has clients. For partners, with a sign-in within the last 10 minutes.',
  params,
  response: {
    204: { description: 'The person is deleted.', type: 'null' },
    ...refusals([...writing, 'conflict', recent]),
  },
}

export const previewHandover = {
  ...inPeople,
  operationId: 'previewHandover',
  summary: "Preview the hand-over of a person's clients",
  description: 'With `to` in the query, also what prevents a hand-over to that person. For partners.',
  params,
  response: { 200: answers(schema.shownHandover, 'The clients.'), ...refusals([...refusalsOfPeople, 'not_found']) },
}

export const performHandover = {
  ...inPeople,
  operationId: 'handOver',
  summary: "Hand over all of a person's clients",
  description: 'Assigns all clients, archived ones included, to another person, or none. For partners.',
  params,
  body: schema.HandoverBody,
  response: { 200: answers(schema.performedHandover, 'The number of clients.'), ...refusals([...changing, recent]) },
}

export const grantAccount = {
  ...inPeople,
  operationId: 'grantAccount',
  summary: 'Let a developer see an account',
  description:
    'Its credit, usage, requests, keys and budgets. Idempotent. For partners, with a sign-in within the last 10 minutes.',
  params,
  body: schema.GrantBody,
  response: { 200: answers(schema.listedPerson, 'The person.'), ...refusals([...changing, recent]) },
}

export const removeGrant = {
  ...inPeople,
  operationId: 'removeGrant',
  summary: 'No longer let a developer see an account',
  description: 'Takes effect with their next request. For partners.',
  params: Type.Object({ ...params.properties, account: Type.String({ description: 'The id of the account.' }) }),
  response: { 204: { description: 'The grant is removed.', type: 'null' }, ...refusals(writing) },
}

export const invite = {
  ...inPeople,
  operationId: 'invite',
  summary: 'Invite a person',
  description:
    'For 7 days. Voids an earlier invitation of the address. For partners, with a sign-in within the last 10 minutes.',
  body: schema.InvitationBody,
  response: { 201: answers(schema.sentInvitation, 'The invitation.'), ...refusals([...changing, recent]) },
}

export const resendInvitation = {
  ...inPeople,
  operationId: 'resendInvitation',
  summary: 'Send an invitation again',
  description:
    'With a new link, for 7 more days. The previous link no longer works. For partners, with a sign-in within the last 10 minutes.',
  params: invitationParams,
  response: { 200: answers(schema.sentInvitation, 'The invitation.'), ...refusals([...writing, recent]) },
}

export const withdrawInvitation = {
  ...inPeople,
  operationId: 'withdrawInvitation',
  summary: 'Withdraw an invitation',
  description: 'Its link no longer works. For partners.',
  params: invitationParams,
  response: { 204: { description: 'The invitation is withdrawn.', type: 'null' }, ...refusals(writing) },
}
