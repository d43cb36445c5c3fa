import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { byService } from '../src/access/actor.ts'
import { createBudgets, type Budget } from '../src/accounts/budgets/budgets.ts'
import { budgetsFor, findKnownBudgets } from '../src/accounts/budgets/known-budgets.ts'
import { createKeys } from '../src/accounts/keys/keys.ts'
import { foldCharges } from '../src/billing/appended-charges.ts'
import type { HoldRequest, Tags } from '../src/billing/till/till.ts'
import { verifyBooks } from '../src/billing/verify.ts'
import { countOwnTime } from './support/clock.ts'
import { draws } from './support/draws.ts'
import { fixture } from './support/fixture.ts'
import { ask, log, mostOfOne, openTills, outcome, price, used } from './support/tills.ts'
import { assertVerified } from './support/verified.ts'

// Hard budgets that keys and tags share, under many requests at once on three instances. Nobody lowers one here, so what is charged and held
// never exceeds any of them, at any moment.

countOwnTime()
const stage = fixture(() => openTills(3))
const keys = fixture(() => createKeys({ database: stage.database, log }))
const budgets = fixture(() => createBudgets({ database: stage.database, timeZone: 'Asia/Kathmandu' }))

/** The keys of an account, and the projects that its requests name. */
const size = { keys: 6, projects: 2 }
const tagsOf = (project: number): Tags | undefined =>
  project === 0 ? undefined : { project: `p${project}`, other: 'x' }

interface BudgetDrawn {
  /** Indexes of keys, or a project. */
  readonly of: readonly number[] | number
  readonly period: Budget['period']
  readonly timeZone: string
  /** The most requests that it covers. */
  readonly requests: number
}

interface RequestDrawn {
  readonly key: number
  readonly project: number
  readonly till: number
  readonly end: 'whole' | 'part' | 'more' | 'release'
  /** Whether it goes through an allowance or an own hold. */
  readonly stored: boolean
}

type Step =
  | { readonly kind: 'requests'; readonly all: readonly RequestDrawn[] }
  | { readonly kind: 'raise'; readonly budget: number; readonly requests: number }
  | { readonly kind: 'join'; readonly budget: number; readonly key: number }
  | { readonly kind: 'turn' }

const anyBudget: fc.Arbitrary<BudgetDrawn> = fc.record({
  of: fc.oneof(
    fc.uniqueArray(fc.nat(size.keys - 1), { minLength: 1, maxLength: size.keys }),
    fc.integer({ min: 1, max: size.projects }),
  ),
  period: fc.constantFrom('day', 'week', 'month', 'total'),
  timeZone: fc.constantFrom('UTC', 'Asia/Kathmandu'),
  // With much, instances have allowances of it.
  requests: fc.oneof(fc.nat(40), fc.integer({ min: 600, max: 2000 })),
})
const anyRequest: fc.Arbitrary<RequestDrawn> = fc.record({
  key: fc.nat(size.keys - 1),
  project: fc.nat(size.projects),
  till: fc.nat(2),
  end: fc.constantFrom('whole', 'whole', 'part', 'more', 'release'),
  stored: fc.constantFrom(false, false, false, true),
})
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('requests' as const),
      all: fc.array(anyRequest, { minLength: 60, maxLength: 200, size: 'max' }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('raise' as const), budget: fc.nat(9), requests: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('join' as const), budget: fc.nat(9), key: fc.nat(size.keys - 1) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'turn' as const }) },
)

/** Those of all histories, which would otherwise say nothing if all requests were refused or admitted. */
const outcomes = new Map<string, number>()
after(() => {
  for (const needed of ['admitted', 'insufficient_credit']) assert.ok((outcomes.get(needed) ?? 0) > 0, needed)
})

test('a hard budget is never exceeded, whatever happens at once on three instances', async (t) => {
  const history = fc.record({
    budgets: fc.array(anyBudget, { minLength: 1, maxLength: 5 }),
    steps: fc.array(anyStep, { minLength: 2, maxLength: 8 }),
  })
  const property = fc.asyncProperty(history, play)
  // A history is not made smaller: each try takes seconds.
  await fc.assert(property, { ...draws({ test: 4, endure: 60 }), endOnFailure: true })
  t.diagnostic(`outcomes: ${JSON.stringify(Object.fromEntries(outcomes))}`)
})

async function play({
  budgets: drawn,
  steps,
}: {
  readonly budgets: readonly BudgetDrawn[]
  readonly steps: readonly Step[]
}) {
  const { accountId, keyId: first = assert.fail() } = await stage.addAccount({ credit: 10n ** 15n })
  const ids = [first]
  while (ids.length < size.keys) {
    ids.push((await keys.create({ accountId, name: 'k', allowedModels: null, expiresAt: null }, byService)).id)
  }
  const made: Budget[] = []
  for (const { of, requests, ...rest } of drawn) {
    const shared =
      typeof of === 'number'
        ? { tag: { name: 'project', value: `p${of}` } }
        : { keys: of.map((index) => ids[index] ?? '') }
    const budget = {
      accountId,
      name: randomUUIDv7(),
      hard: true,
      amount: BigInt(requests) * mostOfOne + 1n,
      ...rest,
      ...shared,
    }
    made.push(await budgets.create(budget, byService))
  }

  async function send({ key, project, till: index, end, stored }: RequestDrawn): Promise<void> {
    const [till, tags, keyId] = [stage.nth(index), tagsOf(project), ids[key] ?? '']
    const known = (await findKnownBudgets(stage.database, [{ id: keyId, accountId }])).get(accountId)
    const idempotency = stored ? { key: randomUUIDv7(), hash: 'a' } : undefined
    const request: HoldRequest = ask(
      { accountId, keyId, ...(known && budgetsFor(known, keyId, tags)) },
      { idempotency },
    )
    const came = await outcome(till.admit(request))
    outcomes.set(came, (outcomes.get(came) ?? 0) + 1)
    if (came !== 'admitted') return
    if (end === 'release') await till.release(request.requestId, accountId)
    else {
      const output = end === 'part' ? 3 : 20
      const charge = used(output, { tags, ...(end === 'more' && { inputTokens: 5000 }) })
      await stage.nth(stored ? index + 1 : index).settle(request.requestId, accountId, charge)
    }
  }

  /** What a budget can reach at most after a key has joined that had spent: its charges, and what instances were lent before. */
  const brought = new Map<string, bigint>()
  async function check(): Promise<void> {
    for (const { id, limit, charged, held, name } of await budgets.list(accountId)) {
      const most = brought.get(id) ?? 0n
      assert.ok(charged + held <= (most > limit ? most : limit), `${name}: ${charged} + ${held} of ${limit}`)
    }
  }

  for (const step of steps) {
    if (step.kind === 'requests') {
      const looking = new AbortController()
      const looks = watch(looking.signal)
      await Promise.all(step.all.map(send))
      looking.abort()
      await looks
    } else if (step.kind === 'turn') {
      // As if no request had come since the period before.
      await foldCharges(stage.database)
      await stage.database.rows(
        `update budget b set began_at = p.began_at, ends_at = p.ends_at, charged = budget_charged(b, p.began_at)
         from budget c, budget_period(c.period, c.time_zone, c.began_at - interval '1 second') p
         where b.account_id = $1 and b.period <> 'total' and c.id = b.id`,
        [accountId],
      )
    } else {
      const budget = made[step.budget % made.length] ?? assert.fail()
      const which = { accountId, id: budget.id }
      const until = new Date(Date.now() + 3_600_000)
      if (step.kind === 'raise') {
        const { raise } = await budgets.find(accountId, budget.id)
        await budgets.raise(which, { by: (raise?.by ?? 0n) + BigInt(step.requests) * price.output, until }, byService)
      } else if (budget.keys !== null) {
        const { keys: sharing } = await budgets.find(accountId, budget.id)
        const joined = [...(sharing ?? []), ids[step.key] ?? '']
        const { charged, held } = await budgets.change(which, { keys: joined }, byService)
        const [lent] = await stage.database.rows<{ readonly credit: bigint }>(
          'select coalesce(sum(credit), 0)::amount as credit from budget_allowance where budget_id = $1',
          [budget.id],
        )
        brought.set(budget.id, charged + held + (lent?.credit ?? 0n))
      }
    }
    await check()
  }
  await checkSums()

  /** Looks at the rows while requests come and go: what is lent counts, too. */
  async function watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const over = await stage.database.rows(
        `select id from budget where account_id = $1 and charged + held > amount + coalesce(raised_by, 0)
           and clock_timestamp() < ends_at and not id = any($2)`,
        [accountId, [...brought.keys()]],
      )
      assert.deepEqual(over, [])
    }
  }

  async function checkSums(): Promise<void> {
    assertVerified((await verifyBooks(stage.database)).checks)
  }
}
