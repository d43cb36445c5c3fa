import { longestTag, untagged } from '../../billing/payer.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { checkName, quoted } from '../../platform/text/one-line.ts'
import { checkBudgetAmount } from '../limits.ts'
import { periods, type Budget, type NewBudget } from './budget.ts'
import { readJoiningKeys, type NewBudgetRow } from './store.ts'

const mostKeys = 1000

/** A new budget whose keys are not checked yet. Throws Problem `invalid_field`. */
export function checkNewBudget(asked: NewBudget, firmZone: string): Omit<NewBudgetRow, 'id'> {
  const { accountId, period, hard, amount, timeZone = firmZone, tag = null, keys = null } = asked
  const name = checkName(asked.name)
  checkBudgetAmount('amount', amount)
  if (!periods.includes(period)) throw invalid('period', `The period must be one of ${periods.join(', ')}.`)
  if (timeZone !== 'UTC' && timeZone !== firmZone) {
    const zones = firmZone === 'UTC' ? 'UTC' : `UTC or ${firmZone}, the firm's`
    throw invalid('time_zone', `The time zone must be ${zones}.`)
  }
  if ((tag === null) === (keys === null)) throw invalid('keys', 'Give either the keys that share the budget, or a tag.')
  if (tag !== null) checkTag(tag)
  return { accountId, name, tag, keys: keys && [...new Set(keys)], period, timeZone, hard, amount }
}

function checkTag({ name, value }: NonNullable<Budget['tag']>): void {
  if (untagged.has(name))
    throw invalid('tag.name', `${name} in the metadata of a request is no tag: choose another name.`)
  if (name === '' || name.length > longestTag.name)
    throw invalid('tag.name', `The name of the tag must have 1 to ${longestTag.name} characters.`)
  if (value.length > longestTag.value)
    throw invalid('tag.value', `The value of the tag must have at most ${longestTag.value} characters.`)
}

/**
 * Checks the keys that are to share a budget; those that do already may have ended since. Throws Problem `invalid_field`, which names the
 * first key that cannot.
 */
export async function checkJoining(
  tx: Queryable,
  accountId: string,
  ids: readonly string[],
  sharing: readonly string[] = [],
): Promise<void> {
  if (ids.length === 0) throw invalid('keys', 'Name at least one key.')
  if (ids.length > mostKeys) throw invalid('keys', `A budget can have at most ${mostKeys} keys.`)
  const found = new Map((await readJoiningKeys(tx, ids)).map((key) => [key.id, key]))
  for (const [index, id] of ids.entries()) {
    const key = found.get(id)
    const field = `keys[${index}]`
    if (key?.accountId !== accountId) throw invalid(field, `This account has no key with the id ${quoted(id)}.`)
    if (key.isScratch) throw invalid(field, `${quoted(key.name)} is a scratch key, which cannot share a budget.`)
    if (key.status !== 'valid' && !sharing.includes(id)) {
      throw invalid(field, `The key ${quoted(key.name)} is ${key.status}: leave it out.`)
    }
  }
}

const invalid = (field: string, reason: string): Problem => new Problem('invalid_field', reason, { field })
