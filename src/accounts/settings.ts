import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { codeOf } from '../platform/database/failure.ts'
import { checkName } from '../platform/text/name.ts'
import { quoted } from '../platform/text/one-line.ts'
import { Problem } from '../platform/problems.ts'
import type { Account, SettingsChange } from './account.ts'
import { lockAccount, showAccount } from './account-lookup.ts'
import { setBilling } from './billing-details.ts'
import { changeEvent } from './events.ts'
import { setLimits } from './limits.ts'
import * as store from './store.ts'

interface SettingsOrder {
  readonly id: string
  readonly to: SettingsChange
  readonly check: (before: Account) => void
}

const uniqueViolation = '23505'

export async function changeSettings(database: Database, { id, to, check }: SettingsOrder, by: Visit) {
  const { name: given, own, billing, ...limits } = to
  const name = given === undefined ? undefined : checkName(given)
  try {
    return await database.transaction(async (tx) => {
      const before = await lockAccount(tx, id)
      check(before)
      if (name !== undefined && name !== before.name) await rename(tx, before, name, by)
      if (own !== undefined) await setOwn(tx, id, own, by)
      if (billing !== undefined) await setBilling(tx, id, billing, by)
      return setLimits(tx, id, limits, by)
    })
  } catch (error) {
    if (name !== undefined && codeOf(error) === uniqueViolation) throw nameTaken(name)
    throw error
  }
}

async function rename(tx: Queryable, { id, name: before }: Account, name: string, by: Visit): Promise<void> {
  await store.renameAccount(tx, id, name)
  await recordWithin(tx, [changeEvent(by, 'account_renamed', id, { name: `${before} → ${name}` })])
}

export async function setOwn(tx: Queryable, id: string, own: boolean, by: Visit): Promise<Account> {
  await lockAccount(tx, id)
  if (await store.setOwn(tx, id, own)) {
    await recordWithin(tx, [changeEvent(by, 'account_own_changed', id, { own: `${!own} → ${own}` })])
  }
  return showAccount(tx, id)
}

export function nameTaken(name: string): Problem {
  return new Problem('conflict', `Another account is named ${quoted(name)}: choose a different name.`, {
    field: 'name',
  })
}
