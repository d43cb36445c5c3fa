import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  prepareDataFolder,
  readCredentials,
  superuserAddressOf,
} from '../../src/platform/embedded-postgres/cluster-files.ts'
import { createTestDatabase } from '../support/database.ts'
import { query } from '../support/embedded.ts'
import { at, parseObject } from '../support/json.ts'
import { freePorts, start, type Started } from '../support/start.ts'
import { until } from '../support/until.ts'
import { createVisitor, type Page, type Visitor } from '../support/visitor.ts'
import { setUp, temporaryFolder } from '../support/fixture.ts'

/** As `npm start` on a fresh clone: the embedded database, the shipped model, no settings. */
const folder = temporaryFolder()
let port: number
let running: Started | undefined

setUp(async () => {
  await writeFile(path.join(folder, 'tollgate.yaml'), '')
  await startAt(await freePorts())
})
after(() => running?.end())

/** The environment of the service and the command line, with the data in this folder. */
const environment = (data: string, changes: Record<string, string> = {}) => ({
  TOLLGATE_DATA: path.join(folder, data),
  TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
  ...changes,
})

async function startAt(wanted: number): Promise<void> {
  port = wanted
  running = await start(environment('demo', { PORT: String(port) }))
}

const portal = () => `http://localhost:${port}`

async function signIn(visitor: Visitor, subject: string, returnTo = '/me'): Promise<Page> {
  const choice = await visitor.visit(`${portal()}/auth/start/demo?return_to=${encodeURIComponent(returnTo)}`)
  const chosen = await visitor.ask(`${choice.url}/${subject}`, { method: 'POST' })
  return visitor.visit(chosen.headers.get('location') ?? '')
}

/** The JSON response of a portal URL. */
async function read(visitor: Visitor, address: string): Promise<{ status: number; json: unknown }> {
  const { status, text } = await visitor.ask(`${portal()}${address}`, { headers: { accept: 'application/json' } })
  return { status, json: parseObject(text) }
}

async function namesOf(visitor: Visitor, filter = ''): Promise<string[]> {
  const { json } = await read(visitor, `/clients?limit=100${filter}`)
  const clients = at(json, 'clients')
  assert.ok(Array.isArray(clients))
  return clients.map((client) => String(at(client, 'name')))
}

const people = [
  { subject: 'ruth', name: 'Ruth Penhallow', role: 'partner', clients: 40, archived: 3 },
  { subject: 'daniel', name: 'Daniel Okonjo', role: 'consultant', clients: 18, archived: 1 },
  { subject: 'mei', name: 'Mei Sakamoto', role: 'consultant', clients: 17, archived: 1 },
]

describe('the first start', () => {
  test('prints its address, who can sign in, that this is for evaluation, and how to call the API', () => {
    const said = running?.stdout ?? ''
    assert.ok(said.includes(`Tollgate is ready at ${portal()}\n`), said)
    for (const { name, role } of people) assert.match(said, new RegExp(`^  ${name} +${role}$`, 'm'))
    assert.match(said, /^For evaluation only: /m)
    assert.match(said, new RegExp(`^  curl ${portal()}/v1/generate \\\\$`, 'm'))
  })

  test('prints nothing else except log lines without personal data', async () => {
    await until(() => (running?.stderr ?? '') !== '')
    const lines = running?.stderr.trim().split('\n') ?? []
    for (const line of lines) assert.match(line, /^\{"level":30,/)
    assert.doesNotMatch(lines.join('\n'), /client_secret|session=|penhallow/i)
  })

  test('redirects from / to the sign-in, and from there back to the overview', async () => {
    const visitor = createVisitor()
    const signin = await visitor.visit(`${portal()}/`)
    assert.deepEqual([signin.status, new URL(signin.url).pathname], [200, '/signin'])
    assert.deepEqual(at((await read(visitor, '/signin')).json, 'providers'), [{ id: 'demo', name: 'the demo' }])
    assert.equal((await signIn(visitor, 'ruth', '/')).url, `${portal()}/`)
  })
})

describe('with the demo’s provider', () => {
  for (const { subject, name, role, clients, archived } of people) {
    test(`${name} signs in as a ${role} with ${clients} clients`, async () => {
      const visitor = createVisitor()
      assert.equal((await signIn(visitor, subject)).url, `${portal()}/me`)
      const me = await read(visitor, '/me')
      assert.deepEqual([at(me.json, 'person', 'name'), at(me.json, 'person', 'role')], [name, role])
      const own = await namesOf(visitor)
      assert.equal(own.length, clients)
      assert.equal((await namesOf(visitor, '&status=archived')).length, archived)
      assert.equal(own.includes('Kestrel Joinery Ltd'), subject !== 'mei')
      assert.equal(own.includes('Lumen Software'), subject !== 'daniel')
    })
  }

  test('a consultant can read an own record completely, and is refused a foreign one', async () => {
    const [ruth, mei] = [createVisitor(), createVisitor()]
    await Promise.all([signIn(ruth, 'ruth'), signIn(mei, 'mei')])
    const idOf = async (name: string) => String(at((await read(ruth, `/clients?q=${name}`)).json, 'clients', 0, 'id'))
    const own = await read(mei, `/clients/${await idOf('Lumen')}`)
    assert.equal(own.status, 200)
    assert.deepEqual(at(own.json, 'consultant', 'name'), 'Mei Sakamoto')
    assert.deepEqual(at(own.json, 'notes', 0, 'participants'), ['Arjun Mehta', 'Mei Sakamoto'])
    assert.match(
      String(at(own.json, 'notes', 0, 'text')),
      /^\d+ \w+ \d{4}, phone, Arjun Mehta\n- agreed with the investor/,
    )
    assert.equal(at(own.json, 'notes', 2, 'created_by', 'name'), 'Mei Sakamoto')
    assert.equal(at(own.json, 'letters', 0, 'status'), 'approved')
    assert.equal((await read(mei, `/clients/${await idOf('Kestrel')}`)).status, 403)
    assert.equal((await read(ruth, `/clients/${await idOf('Kestrel')}`)).status, 200)
  })

  test('a visitor who cancels is not signed in, and sees a message', async () => {
    const visitor = createVisitor()
    const page = await signIn(visitor, 'cancel')
    assert.equal(page.status, 400)
    assert.equal(new URL(page.url).pathname, '/auth/callback')
    assert.equal((await read(visitor, '/me')).status, 401)
  })

  test('signing out of the portal also signs out there, and returns to the portal', async () => {
    const visitor = createVisitor()
    await signIn(visitor, 'daniel')
    const out = await visitor.ask(`${portal()}/signout`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: '{}',
    })
    const location = String(at(parseObject(out.text), 'location'))
    assert.match(location, /^http:\/\/127\.0\.0\.1:\d+\/session\/end\?/)
    assert.equal((await visitor.visit(location)).url, `${portal()}/signin`)
    assert.equal(visitor.cookies(location).includes('tollgate_demo_session='), false)
    assert.equal((await read(visitor, '/me')).status, 401)
  })

  test('signing out there ends that portal session and no other', async () => {
    const [visitor, elsewhere] = [createVisitor(), createVisitor()]
    await signIn(visitor, 'mei')
    await signIn(elsewhere, 'mei')
    assert.equal((await visitor.visit(`http://127.0.0.1:${port + 1}/session/end`)).status, 200)
    assert.equal((await read(visitor, '/me')).status, 401)
    assert.equal((await read(elsewhere, '/me')).status, 200)
  })

  test('the provider accepts only its own host name and redirects nowhere else', async () => {
    const provider = `http://127.0.0.1:${port + 1}`
    const byName = await createVisitor().ask(`http://localhost:${port + 1}/.well-known/openid-configuration`)
    assert.equal(byName.status, 421)
    const began = await createVisitor().ask(`${portal()}/auth/start/demo`)
    const address = new URL(began.headers.get('location') ?? '')
    assert.equal(address.origin, provider)
    address.searchParams.set('redirect_uri', 'https://evil.example/auth/callback')
    const answer = await createVisitor().ask(address.href)
    assert.deepEqual([answer.status, answer.headers.get('location')], [400, null])
  })
})

describe('a later start', () => {
  test('after a kill, on another port, and with the provider’s port in use, keeps all data and sessions and admits the same people', async () => {
    const ruth = createVisitor()
    await signIn(ruth, 'ruth')
    const clients = await namesOf(ruth, '&status=all')
    await running?.end('SIGKILL')
    const other = await freePorts()
    const squatter = createServer()
    await once(squatter.listen(other + 1, '127.0.0.1'), 'listening')
    try {
      await startAt(other)
      // Cookies belong to a host, not to a port.
      assert.equal((await read(ruth, '/me')).status, 200)
      assert.deepEqual(await namesOf(ruth, '&status=all'), clients)
      assert.doesNotMatch(running?.stdout ?? '', /The account Demo has/)
      for (const { subject, name, clients: own } of people) {
        const visitor = createVisitor()
        await signIn(visitor, subject)
        assert.equal(at((await read(visitor, '/me')).json, 'person', 'name'), name)
        assert.equal((await namesOf(visitor)).length, own)
      }
    } finally {
      squatter.close()
    }
  })
})

test('TOLLGATE_DEMO=0 starts without a provider, people, clients or any mention of the demo', async () => {
  const off = environment('off', { TOLLGATE_DEMO: '0' })
  const free = await freePorts()
  const started = await start({ ...off, PORT: String(free) })
  try {
    assert.doesNotMatch(started.stdout, /sign in|evaluation|partner|consultant|The account Demo has/i)
    await assert.rejects(fetch(`http://127.0.0.1:${free + 1}`), { message: 'fetch failed' })
    const signin = await fetch(`http://localhost:${free}/signin`, { headers: { accept: 'application/json' } })
    assert.deepEqual(at(await signin.json(), 'providers'), [])
    const place = await prepareDataFolder(path.join(folder, 'off'))
    // Row-level security hides records from the owner.
    const database = superuserAddressOf(await readCredentials(place), 'tollgate')
    assert.deepEqual(await query(database, 'select 1 from person union all select 1 from client'), [])
  } finally {
    await started.end()
  }
})

// Other systems have only one loopback address.
const onLinux = { skip: process.platform === 'linux' ? false : 'there is no 127.0.0.2' }
test('on another address and a free port, the printed command works unchanged', onLinux, async () => {
  const database = await createTestDatabase()
  const other = environment('other', { HOST: '127.0.0.2', PORT: '0', DATABASE_URL: database.url, TOLLGATE_DEMO: '1' })
  const started = await start(other)
  try {
    await until(() => started.stdout.trimEnd().endsWith("}'"))
    const [, base = ''] = /^Tollgate is ready at (http:\/\/127\.0\.0\.2:\d+)$/m.exec(started.stdout) ?? []
    const [, line = ''] = /^Try it:\n([^]+)/m.exec(started.stdout) ?? []
    // Its model may still be loading.
    await until(async () => (await fetch(`${base}/readyz`)).ok)
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line])
    assert.equal(typeof at(parseObject(stdout), 'output_text'), 'string', stdout)
    const visitor = createVisitor()
    const choice = await visitor.visit(`${base}/auth/start/demo?return_to=/me`)
    const chosen = await visitor.ask(`${choice.url}/ruth`, { method: 'POST' })
    assert.equal((await visitor.visit(chosen.headers.get('location') ?? '')).url, `${base}/me`)
  } finally {
    await started.end()
    await database.drop()
  }
})
