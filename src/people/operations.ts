import { Type } from 'typebox'
import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import { endedSessionsOfPerson, listedPerson, peopleList, PersonChangeBody } from './schema.ts'

/** The OpenAPI operations of /people. */
const reading: readonly ProblemCode[] = ['malformed_request', 'not_signed_in', 'forbidden', 'internal', 'unavailable']
const writing: readonly ProblemCode[] = [...reading, 'cross_site_request', 'not_found']
const changing: readonly ProblemCode[] = [
  ...writing,
  'malformed_json',
  'missing_field',
  'unknown_field',
  'invalid_field',
  'conflict',
  'request_too_large',
  'unsupported_media_type',
]

const inPeople = { tags: ['People'], ...needsSession }
const params = Type.Object({ id: Type.String({ description: 'The id of the person.' }) })

export const listPeople = {
  ...inPeople,
  operationId: 'listPeople',
  summary: 'List people',
  description: 'Everyone who can sign in. For partners.',
  response: { 200: answers(peopleList, 'All people.'), ...refusals(reading) },
}

export const changePerson = {
  ...inPeople,
  operationId: 'changePerson',
  summary: 'Change a person',
  description: 'Changes the role or the status, and ends all sessions of the person. For partners.',
  params,
  body: PersonChangeBody,
  response: { 200: answers(listedPerson, 'The person.'), ...refusals(changing) },
}

export const endPersonSessions = {
  ...inPeople,
  operationId: 'endPersonSessions',
  summary: 'End all sessions of a person',
  description: 'The person is signed out everywhere. For partners.',
  params,
  response: { 200: answers(endedSessionsOfPerson, 'The number of sessions that ended.'), ...refusals(writing) },
}
