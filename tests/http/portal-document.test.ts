import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { auditList } from '../../src/access/schema.ts'
import { listedPerson, peopleList } from '../../src/people/schema.ts'
import { endedSessions, me } from '../../src/signin/me/schema.ts'
import { signInPage } from '../../src/signin/schema.ts'
import { startFirm } from '../support/firm.ts'
import { at, objectAt } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'

const firm = fixture(() => startFirm())
const paula = fixture(() => firm.join('Paula', 'partner'))

/** Fails unless the response matches the schema and has no further fields. */
function assertShape(shape: TSchema, answer: { readonly status: number; readonly json: object }): void {
  assert.equal(answer.status, 200)
  const check = Compile(shape)
  assert.deepEqual([...check.Errors(answer.json)], [])
  const known = objectAt(JSON.parse(JSON.stringify(shape)), 'properties')
  for (const name of Object.keys(answer.json)) assert.ok(name in known, `${name} is not in the document`)
}

describe('the OpenAPI document', () => {
  test('lists every URL of sign-in, people, the account and the audit log', async () => {
    const { json } = await paula.get('/openapi.json')
    const paths = objectAt(json, 'paths')
    for (const [path, methods] of Object.entries({
      '/signin': ['get'],
      '/signout': ['post'],
      '/auth/start/{*}': ['get', 'post'],
      '/auth/callback': ['get'],
      '/auth/complete': ['post'],
      '/auth/second-factor/start': ['post'],
      '/auth/second-factor': ['post'],
      '/auth/second-factor/abandon': ['post'],
      '/auth/second-factor/enrol/start': ['post'],
      '/auth/second-factor/enrol': ['post'],
      '/auth/backchannel-logout/{*}': ['post'],
      '/me': ['get'],
      '/me/sessions': ['delete'],
      '/me/sessions/{id}': ['delete'],
      '/me/factors/{id}/start': ['post'],
      '/me/factors/{id}': ['post', 'delete'],
      '/me/recovery-codes': ['post'],
      '/me/passkeys/{id}': ['patch', 'delete'],
      '/me/identities/{id}': ['delete'],
      '/people': ['get'],
      '/people/{id}': ['patch'],
      '/people/{id}/sessions': ['delete'],
      '/audit': ['get'],
    })) {
      assert.ok(path in paths, path)
      for (const method of methods) assert.ok(at(paths, path, method, 'operationId'), `${method} ${path}`)
    }
  })

  test('describes the responses', async () => {
    assertShape(peopleList, await paula.get('/people'))
    assertShape(me, await paula.get('/me'))
    assertShape(auditList, await paula.get('/audit'))
    assertShape(signInPage, await paula.get('/signin?return_to=/clients'))
    const anna = await firm.join('Anna', 'consultant')
    const id = String(at((await anna.get('/me')).json, 'person', 'id'))
    assertShape(listedPerson, await paula.send('PATCH', `/people/${id}`, { role: 'partner' }))
    assertShape(endedSessions, await paula.send('DELETE', `/people/${id}/sessions`, undefined))
  })
})

test('the People page counts only active clients', async () => {
  const ben = await firm.join('Ben', 'consultant')
  const id = String(at((await ben.get('/me')).json, 'person', 'id'))
  const [first] = [await firm.client(ben), await firm.client(ben)]
  await ben.send('PATCH', `/clients/${first}`, { status: 'archived' }, { 'if-match': '*' })
  const { people } = (await paula.get('/people')).json
  assert.ok(Array.isArray(people))
  assert.equal(
    at(
      people.find((each) => at(each, 'id') === id),
      'clients',
    ),
    1,
  )
})
