import { randomBytes } from 'node:crypto'
import { personActor } from '../../../access/actor.ts'
import type { Audit } from '../../../access/audit/audit.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import type { Database, Queryable } from '../../../platform/database/database.ts'
import { hashOf } from '../../session/cookies.ts'
import { lockActivePerson } from '../../attempt/locked-person-store.ts'
import type { MethodDefinition } from '../definition.ts'
import type { RecoveryCodes } from '../method.ts'
import type { Visitor } from '../../visitor/visitor.ts'
import { readCode, wrongCode } from '../../attempt/wrong-code.ts'
import type { Guesses } from '../../throttle/code-guesses.ts'
import * as store from './store.ts'

const codes = 10
/** 80 bits: a plain hash of them cannot be reversed by guessing. */
const bytes = 10
/** Base32 (RFC 4648). */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

interface Needs {
  readonly database: Database
  readonly guesses: Guesses
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly mailer?: Mailer | undefined
}

/** For people who have lost their second factor. */
export const recoveryCode: MethodDefinition = {
  id: 'recovery_code',
  kind: 'factor',
  tables: { withFactors: ['recovery_code'] },
  openFactor: async (needs) => createRecoveryCodes(needs),
}

export function createRecoveryCodes(needs: Needs): RecoveryCodes {
  const { database, guesses } = needs
  return Object.freeze<RecoveryCodes>({
    id: 'recovery_code',
    name: 'Recovery code',
    isBackup: true,
    isSetUp: async (personId: string, within: Queryable = database) =>
      (await store.countRecoveryCodes(within, personId)) > 0,
    begin: async () => ({ data: {}, challenge: {} }),
    complete: (input, { personId, visitor }) =>
      guesses.check(personId, () => use(needs, { personId, visitor, code: readCode(input).toUpperCase() })),
    async create(tx, personId) {
      const created = Array.from({ length: codes }, newCode)
      await store.replaceRecoveryCodes(
        tx,
        personId,
        created.map((code) => hashOf(code)),
      )
      return created.map(inGroups)
    },
    remove: store.deleteRecoveryCodes,
    count: (personId: string, within: Queryable = database) => store.countRecoveryCodes(within, personId),
  })
}

interface Use {
  readonly personId: string
  readonly visitor: Visitor
  readonly code: string
}

/** The use, its audit row and the mail about it are one transaction. */
async function use({ database, audit, mailer }: Needs, { personId, visitor, code }: Use): Promise<void> {
  await database.transaction(async (tx) => {
    const person = await lockActivePerson(tx, personId)
    if (person === undefined || !(await store.useRecoveryCode(tx, personId, hashOf(code)))) throw wrongCode()
    const remaining = await store.countRecoveryCodes(tx, personId)
    const { requestId, address } = visitor
    const details = { remaining: String(remaining) }
    await audit.recordWithin(tx, [
      {
        actor: personActor(person),
        action: 'recovery_code_used',
        outcome: 'allowed',
        noun: 'person',
        nounId: personId,
        requestId,
        address,
        details,
      },
    ])
    if (person.email !== null) {
      const values = { what: 'recovery_code_used', remaining } as const
      await mailer?.send(tx, { to: person.email, template: 'account_changed', values })
    }
  })
}

/** Sixteen characters of five bits. */
function newCode(): string {
  const bits = BigInt(`0x${randomBytes(bytes).toString('hex')}`)
  return Array.from(
    { length: (bytes * 8) / 5 },
    (_, index) => alphabet[Number((bits >> BigInt(index * 5)) & 31n)],
  ).join('')
}

/** Such as `ABCD-EFGH-IJKL-MNOP`. */
function inGroups(code: string): string {
  return code.replace(/.{4}(?=.)/g, '$&-')
}
