import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fastify from 'fastify'
import { recentlySignedIn } from './guard.ts'
import type { Session } from './sessions.ts'

const minute = 60_000
const person = { id: '01990000-0000-7000-8000-000000000000', name: 'P', email: null, role: 'consultant' } as const
const never = new Date(8e15)

/** The status of a request in a session that began that many ms ago, and what was recorded. */
async function after(age: number | undefined) {
  const server = fastify()
  const rows: unknown[] = []
  const record = async (_visitor: unknown, entry: unknown) => void rows.push(entry)
  server.decorate('refusals', { record, recordCookie: () => Promise.reject(new Error('not called')) })
  const session: Session | undefined =
    age === undefined
      ? undefined
      : { id: 's', person, method: 'm', factors: ['m'], createdAt: new Date(0), endsAt: never, idleEndsAt: never }
  server.decorateRequest('session', undefined)
  server.addHook('onRequest', async (request) => {
    request.session = session
  })
  server.get('/change/:what', { onRequest: [recentlySignedIn(() => age ?? 0)] }, async () => 'reached')
  server.setErrorHandler(async (error, _request, reply) =>
    reply
      .code(error instanceof Error && 'code' in error && error.code === 'recent_sign_in_required' ? 403 : 401)
      .send(),
  )
  const { statusCode } = await server.inject('/change/1')
  await server.close()
  return { statusCode, rows }
}

describe('recentlySignedIn', () => {
  test('admits a session that began up to 10 minutes ago', async () => {
    for (const age of [0, 9 * minute, 10 * minute]) {
      assert.deepEqual(await after(age), { statusCode: 200, rows: [] })
    }
  })

  test('refuses an older one, and records it', async () => {
    const row = { action: 'session_too_old', personId: person.id, details: { change: 'GET /change/:what' } }
    for (const age of [10 * minute + 1, 60 * minute]) {
      assert.deepEqual(await after(age), { statusCode: 403, rows: [row] })
    }
  })

  test('refuses a request without a session', async () => {
    assert.deepEqual(await after(undefined), { statusCode: 401, rows: [] })
  })
})
