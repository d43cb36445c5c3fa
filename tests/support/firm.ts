import { byService, type Role } from '../../src/access/actor.ts'
import type { Person } from '../../src/people/person.ts'
import { readAnswer, type Answer } from './answer.ts'
import { fixture } from './fixture.ts'
import { startService, upstreamModel, type Service, type ServiceOptions } from './service.ts'

/** A signed-in person of the firm. */
export interface Member extends Person, Session {
  /** Their Cookie header. */
  readonly cookie: string
}

/** A signed-in browser. */
export interface Session {
  get(address: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Sends a change as the pages do: same origin, with an optional body: bytes as they are, anything else as JSON. */
  send(method: string, address: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

export interface Firm {
  readonly service: Service
  join(name: string, role: Role): Promise<Member>
  /** Creates a client of a person. Returns its id. */
  client(of: Member, name?: string): Promise<string>
  /** Sends a request without a cookie, unless the headers have one. */
  ask(method: string, address: string, options?: Asked): Promise<Answer>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

interface Asked {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The headers that the pages send with a change. */
const sameOrigin = { 'sec-fetch-site': 'same-origin' }

const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array

/** Sends a request without a cookie, unless the headers have one. */
async function askAt(url: string, method: string, address: string, { body, headers = {} }: Asked = {}) {
  const response = await fetch(url + address, {
    method,
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': isBytes(body) ? 'application/octet-stream' : 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' || isBytes(body) ? body : JSON.stringify(body) }),
  })
  return readAnswer(response)
}

/** A session with this Cookie header, at any instance that shares the database. */
export function sessionAt(url: string, cookie: string): Session {
  return {
    get: (address, headers) => askAt(url, 'GET', address, { headers: { cookie, ...headers } }),
    send: (method, address, body, headers) =>
      askAt(url, method, address, { body, headers: { cookie, ...sameOrigin, ...headers } }),
  }
}

/** Starts a service with its people on a new database. */
export async function startFirm(options: Partial<ServiceOptions> = {}): Promise<Firm> {
  const service = await startService({ models: [upstreamModel('http://127.0.0.1:9/v1')], ...options })
  let members = 0

  async function join(name: string, role: Role): Promise<Member> {
    members += 1
    const person = await service.people.create({ name, email: `member${members}@firm.example`, role }, byService)
    const cookie = await service.signIn(person)
    return { ...person, cookie, ...sessionAt(service.url, cookie) }
  }

  return {
    service,
    join,
    ask: (method, address, asked) => askAt(service.url, method, address, asked),
    async client(of, name = 'Client') {
      const { json, status, text } = await of.send('POST', '/clients', { name })
      if (status !== 201 || typeof json['id'] !== 'string') throw new Error(`no client was made: ${text}`)
      return json['id']
    },
    close: () => service.close(),
    [Symbol.asyncDispose]: () => service.close(),
  }
}

/** A firm with the consultants Anna and Ben and the partner Paula, for the tests of a file. */
export function openFirm(options: () => Partial<ServiceOptions> = () => ({})) {
  const firm = fixture(() => startFirm(options()))
  return {
    firm,
    anna: fixture(() => firm.join('Anna', 'consultant')),
    ben: fixture(() => firm.join('Ben', 'consultant')),
    paula: fixture(() => firm.join('Paula', 'partner')),
  }
}
