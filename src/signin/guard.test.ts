import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fastify from 'fastify'
import { recentlySignedIn } from './guard.ts'
import type { Session } from './sessions.ts'

const minute = 60_000
const person = { id: '01990000-0000-7000-8000-000000000000', name: 'P', email: null, role: 'consultant' } as const
const never = new Date(8e15)

/** The status of a request in a session that began that many ms ago. */
async function statusAfter(age: number | undefined): Promise<number> {
  const server = fastify()
  const session: Session | undefined =
    age === undefined
      ? undefined
      : { id: 's', person, method: 'm', factors: ['m'], createdAt: new Date(0), endsAt: never, idleEndsAt: never }
  server.decorateRequest('session', undefined)
  server.addHook('onRequest', async (request) => {
    request.session = session
  })
  server.get('/', { onRequest: [recentlySignedIn(() => age ?? 0)] }, async () => 'reached')
  server.setErrorHandler(async (error, _request, reply) =>
    reply
      .code(error instanceof Error && 'code' in error && error.code === 'recent_sign_in_required' ? 403 : 401)
      .send(),
  )
  const { statusCode } = await server.inject('/')
  await server.close()
  return statusCode
}

describe('recentlySignedIn', () => {
  test('admits a session that began up to 10 minutes ago', async () => {
    for (const age of [0, 9 * minute, 10 * minute]) assert.equal(await statusAfter(age), 200)
  })

  test('refuses an older one', async () => {
    for (const age of [10 * minute + 1, 60 * minute]) assert.equal(await statusAfter(age), 403)
  })

  test('refuses a request without a session', async () => {
    assert.equal(await statusAfter(undefined), 401)
  })
})
