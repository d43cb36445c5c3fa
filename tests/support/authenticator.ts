import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { at, type Json } from './json.ts'

/** The difference between a response and a correct one. */
export interface Deviations {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  /** Whether the authenticator verified the person. */
  readonly verified?: boolean
  readonly present?: boolean
  readonly counter?: number
  readonly userHandle?: string | null
  /** Signs with another key. */
  readonly key?: KeyObject
}

/** An authenticator in software, with one passkey (WebAuthn Level 3, ES256). */
export interface Authenticator {
  /** The credential that `navigator.credentials.create` would return, as JSON. */
  create(options: unknown, deviations?: Deviations): Json
  /** The credential that `navigator.credentials.get` would return, as JSON. */
  get(options: unknown, deviations?: Deviations): Json
  readonly credentialId: string
  /** How often it has signed. An authenticator that does not count stays at 0. */
  counter: number
  counts: boolean
}

const flags = { present: 0x01, verified: 0x04, attested: 0x40 }

export function createAuthenticator(origin: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  const credentialId = id.toString('base64url')
  const rpIdOf = new URL(origin).hostname
  let handle: string | null = null

  function clientData(type: string, options: unknown, deviations: Deviations): Buffer {
    const challenge = deviations.challenge ?? at(options, 'challenge')
    const data = { type: deviations.type ?? type, challenge, origin: deviations.origin ?? origin, crossOrigin: false }
    return Buffer.from(JSON.stringify(data))
  }

  function authenticatorData(deviations: Deviations, attested?: Buffer): Buffer {
    const { rpId = rpIdOf, verified = true, present = true } = deviations
    const bits =
      (present ? flags.present : 0) | (verified ? flags.verified : 0) | (attested === undefined ? 0 : flags.attested)
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(deviations.counter ?? authenticator.counter)
    return Buffer.concat([sha256(rpId), Buffer.from([bits]), counter, attested ?? Buffer.alloc(0)])
  }

  const authenticator: Authenticator = {
    credentialId,
    counter: 0,
    counts: true,
    create(options, deviations = {}) {
      handle = String(at(options, 'user', 'id'))
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey)])
      const authData = authenticatorData(deviations, attested)
      const attestation = cbor(
        new Map<Cbor, Cbor>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      )
      return credential(credentialId, {
        clientDataJSON: clientData('webauthn.create', options, deviations).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      })
    },
    get(options, deviations = {}) {
      if (authenticator.counts) authenticator.counter++
      const authData = authenticatorData(deviations)
      const client = clientData('webauthn.get', options, deviations)
      const signature = sign('sha256', Buffer.concat([authData, sha256(client)]), deviations.key ?? privateKey)
      return credential(credentialId, {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: deviations.userHandle === undefined ? handle : deviations.userHandle,
      })
    },
  }
  return authenticator
}

function credential(id: string, response: Json): Json {
  return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} }
}

function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}

/** ES256 on P-256 (RFC 9053 section 7.1.1). */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return cbor(
    new Map<Cbor, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  )
}

type Cbor = number | string | Buffer | ReadonlyMap<Cbor, Cbor>

/** As much of CBOR (RFC 8949) as WebAuthn needs. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, content]) => [cbor(key), cbor(content)])])
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size])
  if (size < 256) return Buffer.from([(major << 5) | 24, size])
  return Buffer.from([(major << 5) | 25, size >> 8, size & 255])
}
