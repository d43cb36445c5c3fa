import { Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'
import type { Person } from '../../../people/person.ts'
import type { Database, Queryable } from '../../../platform/database/database.ts'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import type { AttemptData, BegunEnrolment, SecondFactor } from '../method.ts'
import { readCode, WrongCode, wrongCode } from '../../attempt/wrong-code.ts'
import type { Guesses } from '../../throttle/code-guesses.ts'
import * as store from './store.ts'

interface Needs {
  readonly database: Database
  readonly encryption: Encryption
  readonly guesses: Guesses
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

/** As authenticator apps expect (RFC 6238): six-digit codes that change every 30 s. */
const settings = { issuer: 'Tollgate', algorithm: 'SHA1', digits: 6, period: 30 }
/** 160 bits, as RFC 4226 section 4 recommends. */
const secretBytes = 20
/** A clock may be one step off. */
const accepted = 1

/** An authenticator app. Each code is accepted once, for one person, whatever the browser. */
export function createTotpFactor({ database, encryption, guesses, clock = Date.now }: Needs): SecondFactor {
  /** The time step of a right code; undefined for a wrong one. */
  function stepOf(secret: string, code: string): number | undefined {
    if (!/^\d{6}$/.test(code)) return undefined
    const timestamp = clock()
    const totp = new TOTP({ ...settings, secret })
    const delta = totp.validate({ token: code, timestamp, window: accepted })
    return delta === null ? undefined : totp.counter({ timestamp }) + delta
  }

  return Object.freeze<SecondFactor>({
    id: 'totp',
    name: 'Authenticator app',
    isSetUp: async (personId: string, within: Queryable = database) =>
      (await store.readTotpSecret(within, personId)) !== undefined,
    begin: async () => ({ data: {}, challenge: { digits: settings.digits } }),
    complete: (input, { personId }) =>
      guesses.check(personId, async () => {
        const sealed = await store.readTotpSecret(database, personId)
        const secret = sealed && encryption.decrypt(sealed, secretContext(personId))
        const step = secret === undefined ? undefined : stepOf(secret, readCode(input))
        if (step === undefined || !(await store.useTotpStep(database, personId, step))) throw wrongCode()
      }),
    enrol: {
      changes: { added: 'totp_set_up', removed: 'totp_removed' },
      async begin(person: Pick<Person, 'id' | 'name' | 'email'>) {
        const secret = new Secret({ size: secretBytes }).base32
        const sealed = encryption.encrypt(secret, secretContext(person.id)).toString('base64')
        const uri = new TOTP({ ...settings, label: person.email ?? person.name, secret }).toString()
        return { data: { secret: sealed }, challenge: { secret, uri, qr: renderSVG(uri) } }
      },
      async complete(tx: Queryable, input: unknown, { personId, data }: BegunEnrolment) {
        const sealed = sealedSecret(data)
        const secret = encryption.decrypt(sealed, secretContext(personId))
        const lastStep = secret === undefined ? undefined : stepOf(secret, readCode(input))
        if (lastStep === undefined) throw wrongFirstCode()
        await store.putTotp(tx, { personId, secret: sealed, lastStep }, new Date(clock()))
      },
      remove: store.deleteTotp,
    },
  })
}

/** Each page that begins a set-up shows a new secret, and only the latest counts. */
function wrongFirstCode(): WrongCode {
  return new WrongCode(
    'This code is wrong, has expired, or was used before.',
    'Try the next one. If you opened this page more than once, use the one opened last.',
  )
}

/** Binds an encrypted secret to its person. */
const secretContext = (personId: string): string => `totp ${personId}`

function sealedSecret({ secret }: AttemptData): Buffer {
  return Buffer.from(typeof secret === 'string' ? secret : '', 'base64')
}
