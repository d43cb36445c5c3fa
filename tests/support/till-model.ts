/**
 * The rules of the SQL functions `till()` and `exchange()` again, as plain code over maps. The property test runs both on
 * the same random histories and expects the same results and the same books. Times are in microseconds.
 */

import {
  bringKeyUpTo,
  dayOf,
  keyRefusals,
  keyRoom,
  keyWait,
  lendOfKey,
  noKeyAllowance,
  renewalWait,
  renewKey,
  settleAtKey,
  takeFromKey,
  type KeyNeed,
  type ModelKeyAllowance,
  type ModelKeyLimit,
  type ModelKeyReport,
  type ModelState,
} from './key-limit-model.ts'

export interface ModelAccount extends ModelState {
  id: string
  open: boolean
  requestsPerMinute: number
  tokensPerMinute: number
  monthlyLimit: bigint | null
  credited: bigint
  charged: bigint
}

/** What an instance reports and charges on one account. */
export interface ModelReport extends Omit<ModelKeyReport, 'id'> {
  account: string
  charges: readonly { id: string; key: string; cost: bigint }[]
}

interface ModelAllowance {
  held: bigint
  credit: bigint
  requests: bigint
  tokens: bigint
}

interface ModelHold {
  account: string
  key: string
  instance: string
  inputTokens: number
  maxOutputTokens: number
  inputPrice: bigint
  outputPrice: bigint
  cachedPrice: bigint | null
  cacheWritePrice: bigint | null
  cost: bigint
  idem: string | undefined
}

interface Remembered {
  hash: string
  hold: string
  at: bigint
  body: string | undefined
}

export interface ModelSettlement {
  hold: string
  input: number
  output: number
  cached: number
  cacheWrite: number
  /** Undefined for a release. */
  stop: string | undefined
  body: string | undefined
}

export interface ModelAdmission {
  hold: string
  account: string
  key: string
  /** False: takes one request and places no hold. */
  holds: boolean
  input: number
  output: number
  /** The fewest output tokens that it can be admitted with. */
  least: number | undefined
  inputPrice: bigint
  outputPrice: bigint
  /** Null: as input. */
  cachedPrice: bigint | null
  cacheWritePrice: bigint | null
  idem: string | undefined
  hash: string
  /** Whether the same hold was sent before. */
  again: boolean
}

export interface ModelAnswer {
  id: string
  outcome: string
  waitUs: bigint | null
  body: string | null
  /** The tokens charged by a settlement, where input counts its three kinds, and the output granted to an admission with `least`. */
  input: number | null
  output: number | null
}

/** What decides on a request: the account, and the limits of the key if it has any. */
interface ModelPayer {
  readonly account: ModelAccount
  readonly limit: ModelKeyLimit | undefined
}

/** A settlement's tokens as recorded in the ledger. */
export interface ModelKinds {
  input: number
  output: number
  cached: number
  cacheWrite: number
  unchargedInput: number
  unchargedOutput: number
}

const answer = (id: string, outcome: string, rest: Partial<ModelAnswer> = {}): ModelAnswer => ({
  id,
  outcome,
  waitUs: null,
  body: null,
  input: null,
  output: null,
  ...rest,
})
const unit = 60_000_000n
const minute = 60_000_000n
const day = 24n * 60n * minute
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const ceiling = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
const creditOf = (account: ModelAccount): bigint =>
  account.monthlyLimit === null ? account.credited - account.charged : account.monthlyLimit - account.monthCharged
const isLent = (lent: Pick<ModelAccount, 'creditLent' | 'requestsLent' | 'tokensLent'>): boolean =>
  lent.creditLent > 0n || lent.requestsLent > 0n || lent.tokensLent > 0n
const nameOf = ({ account, idem }: Pick<ModelAdmission, 'account' | 'idem'>): string => `${account} ${idem}`

/** The tokens that a request can use at most, and their highest cost. */
function needOf(item: ModelAdmission): KeyNeed {
  const dearest = most(item.inputPrice, most(item.cachedPrice ?? 0n, item.cacheWritePrice ?? 0n))
  const cost = BigInt(item.input) * dearest + BigInt(item.output) * item.outputPrice
  return { cost, tokens: item.input + item.output }
}

const outputIn = ({ least: fewest }: ModelAdmission, output: number): Partial<ModelAnswer> =>
  fewest === undefined ? {} : { output }

/** The output of an admission: with `least`, the most down to it that is not refused. */
function outputFor(item: ModelAdmission, { account, limit }: ModelPayer): number {
  let { output } = item
  if (item.least === undefined) return output
  const requestLevel = unit
  const payer = { account: { ...account, requestLevel }, limit: limit && { ...limit, requestLevel } }
  while (output > item.least && refusalOf(needOf({ ...item, output }), payer) !== undefined) output--
  return Math.max(output, item.least)
}

export const monthOf = (now: bigint): string => `${new Date(Number(now / 1000n)).toISOString().slice(0, 7)}-01`

function refusalOf({ cost, tokens }: KeyNeed, { account, limit }: ModelPayer): string | undefined {
  const need = BigInt(tokens) * unit
  const credit = creditOf(account)
  const key = keyRefusals(limit, { cost, tokens })
  const refusals = {
    never_fits: need > BigInt(account.tokensPerMinute) * unit,
    key_never_fits: key.key_never_fits,
    insufficient_credit: cost > most(0n, credit),
    key_month: key.key_month,
    key_day: key.key_day,
    credit_held: cost > most(0n, credit - account.held - account.creditLent),
    key_held: key.key_held,
    requests: account.requestLevel < unit,
    tokens: account.tokenLevel < need,
    key_requests: key.key_requests,
    key_tokens: key.key_tokens,
  }
  return Object.entries(refusals).find(([, refuses]) => refuses)?.[0]
}

/** Recalls allowances if the request could be admitted after their return. */
function recall(refusal: string, { account, limit }: ModelPayer, now: bigint): void {
  if (/^(?:credit_held|requests|tokens)$/.test(refusal) && isLent(account)) account.recalledAt = now
  if (/^key_(?:held|requests|tokens)$/.test(refusal) && limit && isLent(limit)) limit.recalledAt = now
}

function waitAfter(
  refusal: string,
  { cost, tokens }: KeyNeed,
  { account, limit }: ModelPayer,
  now: bigint,
): bigint | null {
  if (limit && refusal === 'key_day') return renewalWait(limit, 'day', cost, now)
  if (limit && refusal === 'key_month') return renewalWait(limit, 'month', cost, now)
  if (!/^(?:key_)?(?:requests|tokens)$/.test(refusal)) return null
  const forRequest = ceiling(most(0n, unit - account.requestLevel), BigInt(account.requestsPerMinute))
  const forTokens = ceiling(most(0n, BigInt(tokens) * unit - account.tokenLevel), BigInt(account.tokensPerMinute))
  return most(most(forRequest, forTokens), keyWait(limit, { cost, tokens }))
}

/** Creates empty books. `accounts` may be changed between batches, as the command line does. */
export function createTillModel() {
  const accounts = new Map<string, ModelAccount>()
  const holds = new Map<string, ModelHold>()
  const ledger = new Map<
    string,
    {
      account: string
      key: string
      cost: bigint
      at: bigint
      charged: { input: number; output: number }
      kinds?: ModelKinds
    }
  >()
  const remembered = new Map<string, Remembered>()
  /** By key. Keys that share their limits have the same object. */
  const limits = new Map<string, ModelKeyLimit>()
  const allowances = new Map<string, Map<string, ModelAllowance>>()
  /** By instance, of each row of limits. */
  const keyAllowances = new Map<string, Map<ModelKeyLimit, ModelKeyAllowance>>()

  const requestRoom = (account: ModelAccount): bigint =>
    most(0n, BigInt(account.requestsPerMinute) * unit - account.requestsLent)
  const tokenRoom = (account: ModelAccount): bigint =>
    most(0n, BigInt(account.tokensPerMinute) * unit - account.tokensLent)

  function bringUpTo(account: ModelAccount, now: bigint): void {
    const passed = least(minute, most(0n, now - account.levelAt))
    const rpm = BigInt(account.requestsPerMinute)
    const tpm = BigInt(account.tokensPerMinute)
    account.requestLevel = least(requestRoom(account), account.requestLevel + passed * rpm)
    account.tokenLevel = least(tokenRoom(account), account.tokenLevel + passed * tpm)
    account.levelAt = now
    if (monthOf(now) !== account.month) {
      Object.assign(account, { month: monthOf(now), monthCharged: chargedSince(account.id, monthOf(now)) })
    }
  }

  function chargedSince(account: string, month: string): bigint {
    let sum = 0n
    for (const row of ledger.values()) {
      if (row.account === account && monthOf(row.at) >= month) sum += row.cost
    }
    return sum
  }

  const chargedBy = (limit: ModelKeyLimit) => (since: string) => {
    let sum = 0n
    for (const row of ledger.values()) if (limits.get(row.key) === limit && dayOf(row.at) >= since) sum += row.cost
    return sum
  }

  function bringKey(key: string, now: bigint): void {
    const limit = limits.get(key)
    if (limit) bringKeyUpTo(limit, now, chargedBy(limit))
  }

  /** The charged tokens of a settlement, taken one by one until the credit or a limit ends. */
  function chargedTokens(item: ModelSettlement, hold: ModelHold, account: ModelAccount) {
    const room = keyRoom(limits.get(hold.key))
    const left = creditOf(account) - account.held - account.creditLent
    let credit = hold.cost + most(0n, least(left, room.credit ?? left))
    const level = least(account.tokenLevel, room.tokens ?? account.tokenLevel)
    let tokens = BigInt(hold.inputTokens + hold.maxOutputTokens) + level / unit
    const { inputPrice, cachedPrice, cacheWritePrice } = hold
    const prompt = [
      ...Array.from({ length: item.input }, () => ['input', inputPrice] as const),
      ...Array.from({ length: item.cacheWrite }, () => ['cacheWrite', cacheWritePrice ?? inputPrice] as const),
      ...Array.from({ length: item.cached }, () => ['cached', cachedPrice ?? inputPrice] as const),
    ]
    const reply = Array.from({ length: item.output }, () => ['output', hold.outputPrice] as const)
    const kinds = { input: 0, output: 0, cached: 0, cacheWrite: 0 }
    let cost = 0n
    const charge = (list: (typeof prompt | typeof reply)[number][], limit: number) => {
      for (let [next] = list; next && limit > 0 && tokens > 0n && credit >= next[1]; [next] = list, limit--) {
        const [kind, price] = next
        list.shift()
        kinds[kind] += 1
        tokens -= 1n
        credit -= price
        cost += price
      }
    }
    charge(prompt, hold.inputTokens)
    charge(reply, hold.maxOutputTokens)
    // What a reply may cost at most was agreed: only input is charged beyond the hold.
    charge(prompt, prompt.length)
    return { kinds: { ...kinds, unchargedInput: prompt.length, unchargedOutput: reply.length }, cost }
  }

  function settle(item: ModelSettlement, now: bigint): ModelAnswer | undefined {
    const hold = holds.get(item.hold)
    const earlier = ledger.get(item.hold)
    if (!hold) return earlier && answer(item.hold, 'settled', earlier.charged)
    const account = accounts.get(hold.account)
    if (!account) throw new Error('a hold without an account')
    const none = { ...item, input: 0, output: 0, cached: 0, cacheWrite: 0 }
    const { kinds, cost: charge } = chargedTokens(item.stop === undefined ? none : item, hold, account)
    const charged = { input: kinds.input + kinds.cached + kinds.cacheWrite, output: kinds.output }
    const used = charged.input + charged.output
    holds.delete(item.hold)
    account.held -= hold.cost
    account.charged += charge
    account.monthCharged += charge
    const back = BigInt(hold.inputTokens + hold.maxOutputTokens - used)
    const given = back * unit
    const limit = limits.get(hold.key)
    if (limit) settleAtKey(limit, hold.cost, charge, back)
    account.tokenLevel = most(0n, least(tokenRoom(account), account.tokenLevel + given))
    remember(hold, item)
    if (item.stop === undefined) return answer(item.hold, 'released')
    ledger.set(item.hold, { account: hold.account, key: hold.key, cost: charge, at: now, charged, kinds })
    return answer(item.hold, 'settled', charged)
  }

  function remember(hold: ModelHold, item: ModelSettlement): void {
    const name = nameOf(hold)
    const known = remembered.get(name)
    if (hold.idem === undefined || known?.hold !== item.hold) return
    if (item.body === undefined) remembered.delete(name)
    else known.body = item.body
  }

  /** Does what `exchange()` does with one account. Returns true if the request for more was granted. */
  function renew(report: ModelReport, instance: string, now: bigint): boolean {
    const account = accounts.get(report.account)
    if (!account) throw new Error('a report of an unknown account')
    bringUpTo(account, now)
    const mine = allowances.get(instance) ?? new Map<string, ModelAllowance>()
    allowances.set(instance, mine)
    const had = mine.get(account.id) ?? { held: 0n, credit: 0n, requests: 0n, tokens: 0n }
    const charged = report.charges.reduce((sum, charge) => sum + charge.cost, 0n)
    account.charged += charged
    account.monthCharged += charged
    const ofCredit = least(had.credit, charged)
    const left = { ...had, credit: had.credit - ofCredit, held: had.held - least(had.held, charged - ofCredit) }
    lend(account, had, left)
    const room = creditOf(account) - account.held - account.creditLent
    const kept = {
      held: report.held,
      credit: report.credit,
      requests: report.requests * unit,
      tokens: report.tokens * unit,
    }
    lend(account, left, kept)
    account.requestLevel = least(requestRoom(account), account.requestLevel + report.requestsBack * unit)
    account.tokenLevel = least(tokenRoom(account), account.tokenLevel + report.tokensBack * unit)
    const { atHand, cost, need } = report
    const isRecalled =
      account.recalledAt !== null && account.recalledAt >= now - 2_000_000n && account.recalledAt <= now
    const granted =
      atHand > 0n &&
      account.open &&
      !isRecalled &&
      account.requestLevel >= 100n * atHand * unit &&
      account.tokenLevel >= 100n * atHand * need * unit &&
      room >= 100n * atHand * cost
    const has = granted
      ? {
          ...kept,
          credit: kept.credit + report.moreCredit,
          requests: atHand * unit,
          tokens: atHand * need * unit,
        }
      : kept
    lend(account, kept, has)
    if (granted) {
      account.requestLevel -= report.moreRequests * unit
      account.tokenLevel -= report.moreTokens * unit
    }
    mine.set(account.id, has)
    for (const { id, key, cost: paid } of report.charges) {
      const limit = limits.get(key)
      if (limit && dayOf(now) >= limit.day) limit.dayCharged += paid
      if (limit && dayOf(now) >= limit.month) limit.monthCharged += paid
      ledger.set(id, { account: account.id, key, cost: paid, at: now, charged: { input: Number(paid), output: 0 } })
    }
    return granted
  }

  /** Does what `exchange_timed()` does with the limits of a key, after it has charged. Undefined if there are none any more. */
  function renewLimits(report: ModelKeyReport, instance: string, now: bigint) {
    const limit = [...limits.values()].find(({ id }) => id === report.id)
    if (limit === undefined) return []
    bringKeyUpTo(limit, now, chargedBy(limit))
    const mine = keyAllowances.get(instance) ?? new Map<ModelKeyLimit, ModelKeyAllowance>()
    keyAllowances.set(instance, mine)
    const { granted, has } = renewKey(limit, report, mine.get(limit) ?? noKeyAllowance, now)
    mine.set(limit, has)
    return [{ id: report.id, granted }]
  }

  /** Replaces what the account has lent to an instance. */
  function lend(account: ModelAccount, before: ModelAllowance, after: ModelAllowance): void {
    account.held += after.held - before.held
    account.creditLent += after.credit - before.credit
    account.requestsLent += after.requests - before.requests
    account.tokensLent += after.tokens - before.tokens
  }

  function repeated(item: ModelAdmission, now: bigint): string | undefined {
    const known = item.idem === undefined ? undefined : remembered.get(nameOf(item))
    if (!known || known.at <= now - day) return undefined
    if (known.hash !== item.hash) return 'mismatch'
    return known.body === undefined ? 'in_progress' : 'replay'
  }

  function admit(item: ModelAdmission, instance: string, now: bigint): ModelAnswer {
    const account = accounts.get(item.account)
    const held = holds.get(item.hold)
    if (held) return answer(item.hold, 'admitted', outputIn(item, held.maxOutputTokens))
    if (!account?.open) return answer(item.hold, 'no_billing_account')
    const before = repeated(item, now)
    if (before === 'replay') return answer(item.hold, before, { body: remembered.get(nameOf(item))?.body ?? null })
    if (before !== undefined) return answer(item.hold, before)
    const payer: ModelPayer = { account, limit: limits.get(item.key) }
    const output = outputFor(item, payer)
    const need = needOf({ ...item, output })
    const refusal = refusalOf(need, payer)
    if (refusal !== undefined) {
      recall(refusal, payer, now)
      return answer(item.hold, refusal, { waitUs: waitAfter(refusal, need, payer, now) })
    }
    account.requestLevel -= unit
    account.tokenLevel -= BigInt(need.tokens) * unit
    if (payer.limit) takeFromKey(payer.limit, need.tokens, item.holds ? need.cost : 0n)
    if (!item.holds) return answer(item.hold, 'admitted')
    account.held += need.cost
    holds.set(item.hold, {
      ...item,
      maxOutputTokens: output,
      inputTokens: item.input,
      cost: need.cost,
      instance,
    })
    if (item.idem !== undefined)
      remembered.set(nameOf(item), { hash: item.hash, hold: item.hold, at: now, body: undefined })
    return answer(item.hold, 'admitted', outputIn(item, output))
  }

  return {
    accounts,
    holds,
    ledger,
    limits,
    /** The results of one call of `till()`. Holds that were released in the meantime have none. */
    batch(
      instance: string,
      settlements: readonly ModelSettlement[],
      admissions: readonly ModelAdmission[],
      now: bigint,
    ) {
      const settled = settlements.flatMap((item) => {
        const account = accounts.get(holds.get(item.hold)?.account ?? '')
        if (account) bringUpTo(account, now)
        bringKey(holds.get(item.hold)?.key ?? '', now)
        return settle(item, now) ?? []
      })
      const sorted = admissions.toSorted((a, b) => (a.account < b.account ? -1 : a.account > b.account ? 1 : 0))
      const admitted = sorted.map((item) => {
        const account = accounts.get(item.account)
        if (account) bringUpTo(account, now)
        if (account) bringKey(item.key, now)
        return admit(item, instance, now)
      })
      return [...settled, ...admitted]
    },
    keyAllowances,
    /** The results of one call of `exchange_timed()`: by account and key, true if the request for more was granted. */
    exchange(
      instance: string,
      reports: readonly ModelReport[],
      now: bigint,
      keyReports: readonly ModelKeyReport[] = [],
    ) {
      const renewed = reports.map((report) => ({ id: report.account, granted: renew(report, instance, now) }))
      return [...renewed, ...keyReports.flatMap((report) => renewLimits(report, instance, now))]
    },
    /** Releases the holds and allowances of an instance. Their tokens are not returned. */
    reap(instance: string) {
      for (const [id, had] of allowances.get(instance) ?? []) {
        const account = accounts.get(id)
        if (account) lend(account, had, { held: 0n, credit: 0n, requests: 0n, tokens: 0n })
      }
      allowances.delete(instance)
      for (const [limit, had] of keyAllowances.get(instance) ?? []) lendOfKey(limit, had, noKeyAllowance)
      keyAllowances.delete(instance)
      for (const [id, hold] of holds) {
        if (hold.instance !== instance) continue
        holds.delete(id)
        const account = accounts.get(hold.account)
        if (account) account.held -= hold.cost
        const limit = limits.get(hold.key)
        if (limit) limit.held -= hold.cost
        const name = nameOf(hold)
        if (remembered.get(name)?.hold === id) remembered.delete(name)
      }
    },
  }
}
