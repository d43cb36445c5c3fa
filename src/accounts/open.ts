import type { Logger } from 'pino'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Feature } from '../platform/feature.ts'
import { createAccounts, type Accounts } from './accounts.ts'
import { createBudgets } from './budgets/budgets.ts'
import { budgetExamples, registerBudgets, type BudgetRouteNeeds } from './budgets/routes.ts'
import { createKeys, type Keys } from './keys/keys.ts'
import { accountExamples, registerAccounts, type AccountRouteNeeds } from './routes.ts'

interface AccountsNeeds
  extends Omit<AccountRouteNeeds, 'accounts' | 'keys' | 'defaultLimits'>, Omit<BudgetRouteNeeds, 'budgets'> {
  readonly config: Pick<Config, 'limits'>
  readonly database: Database
  readonly log: Logger
}

export interface AccountsFeature extends Feature {
  readonly accounts: Accounts
  readonly keys: Keys
  close(this: void): Promise<void>
}

export function openAccounts(needs: AccountsNeeds): AccountsFeature {
  const accounts = createAccounts(needs)
  const keys = createKeys(needs)
  const budgets = createBudgets(needs)
  const { requests_per_minute, tokens_per_minute } = needs.config.limits
  const defaultLimits = { requests_per_minute, tokens_per_minute }
  return Object.freeze({
    accounts,
    keys,
    routes(server) {
      registerAccounts(server, { ...needs, accounts, keys, defaultLimits })
      registerBudgets(server, { ...needs, budgets })
    },
    examples: { ...accountExamples, ...budgetExamples },
    close: () => keys.close(),
  } satisfies AccountsFeature)
}
