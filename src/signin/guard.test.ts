import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fastify from 'fastify'
import type { Server } from '../platform/http/server.ts'
import { prepareGuards } from './guard.ts'
import type { Session } from './session/sessions.ts'

const minute = 60_000
const person = { id: '01990000-0000-7000-8000-000000000000', name: 'P', email: null, role: 'consultant' } as const
const never = new Date(8e15)

const unused = () => Promise.reject(new Error('not called'))

/** The status of a request in a session whose person proved who they are that many ms ago, and what was recorded. */
async function after(age: number | undefined, method: 'GET' | 'POST' | 'DELETE' = 'POST', url = '/keys/:key/rotate') {
  const server: Server = fastify()
  const rows: unknown[] = []
  const record = async (_visitor: unknown, entry: unknown) => void rows.push(entry)
  const times = {
    createdAt: new Date(0),
    provenAt: age === undefined ? null : new Date(0),
    endsAt: never,
    idleEndsAt: never,
  }
  const session: Session = { id: 's', person, method: 'm', factors: ['m'], ...times }
  prepareGuards(server, {
    sessions: { recognise: async () => session },
    refusals: { record, recordCookie: unused },
    clock: () => age ?? 1,
  })
  server.addHook('onRequest', async (request) => {
    request.session = session
  })
  server.route({ method, url, handler: async () => 'reached' })
  server.setErrorHandler(async (error, _request, reply) =>
    reply
      .code(error instanceof Error && 'code' in error && error.code === 'recent_sign_in_required' ? 403 : 500)
      .send(),
  )
  const { statusCode } = await server.inject({ method, url: url.replace(':key', '1') })
  await server.close()
  return { statusCode, rows }
}

describe('B108: a route that needs a recent sign-in', () => {
  test('admits a person who proved who they are up to 10 minutes ago', async () => {
    for (const age of [0, 9 * minute, 10 * minute]) {
      assert.deepEqual(await after(age), { statusCode: 200, rows: [] })
    }
  })

  test('refuses a person who did so earlier, or at an unknown time, and records it', async () => {
    const row = { action: 'session_too_old', personId: person.id, details: { change: 'POST /keys/:key/rotate' } }
    for (const age of [10 * minute + 1, 60 * minute, undefined]) {
      assert.deepEqual(await after(age), { statusCode: 403, rows: [row] })
    }
  })

  test('is every change without a row; reads without a row, and changes whose row says so, are not', async () => {
    assert.equal((await after(undefined, 'POST', '/new')).statusCode, 403)
    assert.equal((await after(undefined, 'GET', '/new')).statusCode, 200)
    assert.equal((await after(undefined, 'DELETE', '/people/sessions')).statusCode, 200)
  })
})
