import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit/audit.ts'
import { readEmail } from '../people/email.ts'
import type { Queryable } from '../platform/database/database.ts'
import { hiddenIn, isBlank } from '../platform/text/one-line.ts'
import { readAddress } from '../platform/text/postal-address.ts'
import { Problem } from '../platform/problems.ts'
import type { Account, BillingChange, BillingDetails } from './account.ts'
import { lockAccount, showAccount } from './account-lookup.ts'
import { changeEvent } from './events.ts'
import * as store from './store.ts'

/** The names of the details in requests and in the audit log. */
const fieldNames = {
  name: 'billing_name',
  address: 'billing_address',
  taxNumber: 'billing_tax_number',
  email: 'billing_email',
} as const

const longest = { name: 200, address: 500, taxNumber: 50, email: 254 } as const

/** Throws Problem `invalid_field`. */
export async function setBilling(tx: Queryable, id: string, change: BillingChange, by: Visit): Promise<Account> {
  const { billing: before } = await lockAccount(tx, id)
  const after: BillingDetails = {
    name: change.name === undefined ? before.name : lineIn(change.name, 'name'),
    address: change.address === undefined ? before.address : addressIn(change.address),
    taxNumber: change.taxNumber === undefined ? before.taxNumber : lineIn(change.taxNumber, 'taxNumber'),
    email: change.email === undefined ? before.email : emailIn(change.email),
  }
  const changed = nameKeys.filter((name) => after[name] !== before[name])
  if (changed.length > 0) {
    await store.updateBilling(tx, id, after)
    const fields = changed.map((name) => fieldNames[name]).join(', ')
    await recordWithin(tx, [changeEvent(by, 'account_billing_changed', id, { fields })])
  }
  return showAccount(tx, id)
}

const nameKeys = ['name', 'address', 'taxNumber', 'email'] as const

function lineIn(text: string | null, name: keyof BillingDetails): string | null {
  const line = text?.trim() ?? ''
  if (isBlank(line)) return null
  const hidden = line.isWellFormed() ? hiddenIn(line) : 'an unpaired surrogate, which is not valid Unicode'
  if (hidden !== undefined) throw refused(name, `must be one line of plain text: it has ${hidden}`)
  return short(line, name)
}

function addressIn(text: string | null): string | null {
  const address = readAddress(text, fieldNames.address)
  if (address !== null) address.split('\n').forEach((line) => lineIn(line, 'address'))
  return address && short(address, 'address')
}

function emailIn(text: string | null): string | null {
  const email = lineIn(text, 'email')
  if (email === null) return null
  const read = readEmail(email)
  if (read === undefined) throw refused('email', 'must be an email address: name@example.com')
  return read.address
}

function short(text: string, name: keyof BillingDetails): string {
  if (text.length <= longest[name]) return text
  throw refused(name, `must have at most ${longest[name]} characters`)
}

function refused(name: keyof BillingDetails, reason: string): Problem {
  const field = fieldNames[name]
  return new Problem('invalid_field', `The field ${field} ${reason}.`, { field })
}
