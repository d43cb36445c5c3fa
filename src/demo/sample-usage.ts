import { byService } from '../access/actor.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Keys } from '../accounts/keys/keys.ts'
import { parseMoney } from '../billing/prices/money.ts'
import { priceOf } from '../billing/prices/price-rule.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import { dayBefore } from './sample-dates.ts'
import { chargeSampleUse } from './samples-store.ts'

/** Accounts that have called the API, with the most requests in a day. */
const sampleAccounts = [
  {
    name: 'Tidewater Software',
    most: 14,
    billing: {
      name: 'Tidewater Software Ltd',
      address: '3 Chandlers Wharf\nPorthcarrow PC2 4DL\nUnited Kingdom',
      email: 'accounts@tidewater.example',
    },
  },
  {
    name: 'Quayside Clinics',
    most: 6,
    billing: {
      name: 'Quayside Clinics LLP',
      address: '28 Mariner Street\nPorthcarrow PC1 7BN\nUnited Kingdom',
      email: 'finance@quayside-clinics.example',
    },
  },
]

export const isSampleAccount = ({ name }: { readonly name: string }): boolean =>
  sampleAccounts.some((sample) => sample.name === name)

export interface UsageNeeds {
  readonly accounts: Pick<Accounts, 'create' | 'list' | 'setBilling'>
  readonly keys: Pick<Keys, 'create'>
  readonly database: Database
  readonly config: Config
}

/** What a sample account can spend in a month. */
const monthlyLimit = '5'

/**
 * Enters accounts with their use of the drafting model since the beginning of last month. Returns their ids: none if
 * no model has a price. An interrupted call may have entered some.
 */
export async function enterUsage({ accounts, keys, database, config }: UsageNeeds): Promise<string[]> {
  const model = pricedModel(config)
  if (model === undefined) return []
  const days = lastDays(new Date())
  const known = await accounts.list()
  const used: string[] = []
  for (const { name, most, billing } of sampleAccounts) {
    const before = known.find((account) => account.name === name)
    if (before !== undefined) {
      used.push(before.id)
      continue
    }
    const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute } = config.limits
    const limits = { requestsPerMinute, tokensPerMinute, monthlyLimit: parseMoney(monthlyLimit) }
    const { id: accountId } = await accounts.create({ name, ...limits }, byService)
    await accounts.setBilling(accountId, billing, byService)
    const { id: keyId } = await keys.create(
      { accountId, name: 'production', allowedModels: null, expiresAt: null },
      byService,
    )
    await database.transaction((tx) => chargeSampleUse(tx, { accountId, keyId, ...model, days, most }))
    used.push(accountId)
  }
  return used
}

/** The model that drafts letters, or the first one with a price. */
function pricedModel({ models, aliases, drafting }: Config) {
  const wanted = drafting && (aliases[drafting.model] ?? drafting.model)
  const priced = models.flatMap(({ id, price }) => (price ? [{ model: id, price: priceOf(price) }] : []))
  return priced.find(({ model }) => model === wanted) ?? priced[0]
}

/** The working days from the first one of last month to yesterday, in order. */
function lastDays(now: Date): string[] {
  const first = Temporal.PlainDate.from(now.toISOString().slice(0, 10))
    .with({ day: 1 })
    .subtract({ months: 1 })
    .toString()
  const days = Array.from({ length: 62 }, (_, index) => dayBefore(now, index + 1))
  return [...new Set(days)].filter((day) => day >= first).toSorted()
}
