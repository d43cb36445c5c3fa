import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fastify from 'fastify'
import { recentlySignedIn, requireRecent } from './guard.ts'

const minute = 60_000

describe('recentlySignedIn', () => {
  test('admits a session that began up to 10 minutes ago', () => {
    for (const age of [0, 9 * minute, 10 * minute]) {
      assert.doesNotThrow(() => requireRecent({ createdAt: new Date(0) }, age))
    }
  })

  test('refuses an older one', () => {
    for (const age of [10 * minute + 1, 60 * minute]) {
      assert.throws(() => requireRecent({ createdAt: new Date(0) }, age), { code: 'recent_sign_in_required' })
    }
  })

  test('refuses a request without a session', async () => {
    const server = fastify()
    server.decorateRequest('session', undefined)
    server.get('/', { onRequest: [recentlySignedIn()] }, async () => 'reached')
    server.setErrorHandler(async (error, _request, reply) => reply.code(401).send(error))
    assert.equal((await server.inject('/')).statusCode, 401)
    await server.close()
  })
})
