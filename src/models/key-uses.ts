import type { Accounts } from '../accounts/accounts.ts'
import type { Keys } from '../accounts/keys/keys.ts'
import type { KeyUse } from './present.ts'

interface KeyUseNeeds {
  readonly accounts: Pick<Accounts, 'list'>
  readonly keys: Pick<Keys, 'list'>
}

/** The valid keys of open accounts, in order of creation. */
export async function readKeyUses({ accounts, keys }: KeyUseNeeds): Promise<KeyUse[]> {
  const [allAccounts, allKeys] = await Promise.all([accounts.list(), keys.list()])
  const open = new Map(allAccounts.filter(({ status }) => status === 'open').map(({ id, name }) => [id, { id, name }]))
  return allKeys.flatMap(({ id, publicId, name, accountId, allowedModels, status }) => {
    const account = open.get(accountId ?? '')
    return status === 'valid' && account ? [{ id, publicId, name, account, allowedModels }] : []
  })
}
