import { randomInt, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Person } from '../../../people/person.ts'
import type { Database, Queryable } from '../../../platform/database/database.ts'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import { Problem } from '../../../platform/problems.ts'
import type { MethodDefinition } from '../definition.ts'
import type { AttemptData, BegunEnrolment, Challenge, SecondFactor } from '../method.ts'
import type { KnownNetworks } from '../../visitor/known-networks.ts'
import { createSendLimits } from '../../throttle/send-limits.ts'
import type { Throttle } from '../../throttle/throttle.ts'
import type { Visitor } from '../../visitor/visitor.ts'
import { readCode, wrongCode } from '../../attempt/wrong-code.ts'
import type { Guesses } from '../../throttle/code-guesses.ts'
import * as store from './store.ts'
import { createSmsGateway, twilioAccount, type SendSms } from './gateway.ts'

interface Needs {
  readonly database: Database
  readonly encryption: Encryption
  readonly guesses: Guesses
  readonly throttle: Throttle
  readonly known: KnownNetworks
  readonly send: SendSms
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const minute = 60_000
const lifetime = 10 * minute
const digits = 6

interface Message {
  readonly personId: string
  readonly number: string
  readonly visitor: Visitor
}

const Twilio = Type.Object({
  sms: Type.Object({ format: Type.Literal('twilio'), url: Type.String(), from: Type.Optional(Type.String()) }),
})

/** A code by text message, to a number that the person has verified. */
export const sms: MethodDefinition = {
  id: 'sms',
  kind: 'factor',
  tables: { ofFactors: ['phone'] },
  checkSettings(settings, fault) {
    if (!Value.Check(Twilio, settings)) return
    const { url, from } = settings.sms
    if (from === undefined) fault('sms.from', 'is missing: Twilio needs the number or the name of the sender')
    if (URL.canParse(url) && twilioAccount(url) === undefined) {
      fault('sms.url', 'must end in /Accounts/<account id>/Messages.json for Twilio')
    }
  },
  async openFactor(needs) {
    const send = needs.config.sms && createSmsGateway(needs.config.sms)
    return send && createSmsFactor({ ...needs, send })
  },
}

function createSmsFactor(needs: Needs): SecondFactor {
  const { database, guesses, clock = Date.now } = needs
  return Object.freeze<SecondFactor>({
    id: 'sms',
    name: 'Text message',
    isSetUp: async (personId: string, within: Queryable = database) =>
      (await store.readPhone(within, personId)) !== undefined,
    async begin(personId, visitor) {
      const number = await store.readPhone(database, personId)
      if (number === undefined) throw new Problem('not_found', 'You have no verified telephone number.')
      return sendCode(needs, { personId, number, visitor })
    },
    complete: (input, { personId, data }) =>
      guesses.check(personId, async () => {
        if (!isRight(needs, { personId, data, input })) throw wrongCode()
      }),
    enrol: {
      changes: { added: 'phone_verified', removed: 'phone_removed' },
      async begin({ id }: Pick<Person, 'id'>, input: unknown, visitor: Visitor) {
        return sendCode(needs, { personId: id, number: readNumber(input), visitor })
      },
      async complete(tx: Queryable, input: unknown, { personId, data }: BegunEnrolment) {
        const { number } = data
        if (typeof number !== 'string' || !isRight(needs, { personId, data, input })) throw wrongCode()
        await store.putPhone(tx, { personId, number, at: new Date(clock()) })
      },
      remove: store.deletePhone,
    },
  })
}

/** Throws Problem `too_many_sign_ins`, `sms_failed`. A later code replaces the one before. */
async function sendCode(
  { encryption, throttle, known, send, clock = Date.now }: Needs,
  message: Message,
): Promise<Challenge> {
  const { personId, number, visitor } = message
  // Messages cost money, and a stranger's phone may be the one that rings.
  for (const [kind, to] of [
    ['sms_of_person', personId],
    ['sms', number],
  ] as const) {
    const { wait, most } = await createSendLimits({ throttle, known }, kind).take({ to, owner: personId, visitor })
    if (wait > 0) throw tooManyMessages(wait, most)
  }
  const code = String(randomInt(10 ** digits)).padStart(digits, '0')
  await send(number, `Your Tollgate code is ${code}. It is valid for 10 minutes. Do not share it with anyone.`)
  // A hash of six digits could be reversed by guessing.
  const sealed = encryption.encrypt(code, codeContext(personId, number)).toString('base64')
  return {
    data: { code: sealed, number, expires: clock() + lifetime },
    challenge: { digits, number: number.replace(/\d(?=\d{2})/g, '•') },
  }
}

interface Submission {
  readonly personId: string
  readonly data: AttemptData
  readonly input: unknown
}

function isRight({ encryption, clock = Date.now }: Needs, { personId, data, input }: Submission): boolean {
  const { code: sealed, number, expires } = data
  if (typeof sealed !== 'string' || typeof number !== 'string' || typeof expires !== 'number') return false
  const code = encryption.decrypt(Buffer.from(sealed, 'base64'), codeContext(personId, number))
  const given = Buffer.from(readCode(input))
  if (code === undefined || given.length !== code.length || clock() >= expires) return false
  return timingSafeEqual(given, Buffer.from(code))
}

/** Binds an encrypted code to its person and number. */
const codeContext = (personId: string, number: string): string => `sms ${personId} ${number}`

const Numbered = Type.Object({ number: Type.String({ maxLength: 40 }) })

/** In the international format (ITU-T E.164), without the signs that make it readable. */
function readNumber(input: unknown): string {
  const number = Value.Check(Numbered, input) ? input.number.replace(/[\s()./-]/g, '') : ''
  if (/^\+[1-9]\d{6,14}$/.test(number)) return number
  throw new Problem('invalid_field', 'Give the number in the international format, such as +49 151 12345678.', {
    field: 'input.number',
  })
}

function tooManyMessages(wait: number, most: number): Problem {
  return new Problem(
    'too_many_sign_ins',
    `Too many text messages. Try again in ${wait} s, or use another second factor.`,
    { retryAfter: wait, limit: { name: 'text_messages', value: most, remaining: 0 } },
  )
}
