import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import pino from 'pino'
import { foldCharges } from '../../src/billing/appended-charges.ts'
import { createTill } from '../../src/billing/till/postgres-till.ts'
import type { HoldRequest, Charge, Till } from '../../src/billing/till/till.ts'
import type { Payer } from '../../src/billing/payer.ts'
import { verifyBooks } from '../../src/billing/verify.ts'
import { openDatabase, type Database, type DatabasePatience } from '../../src/platform/database/database.ts'
import { Problem } from '../../src/platform/problems.ts'
import { createTestDatabase, patience } from './database.ts'
import { inTime, until } from './until.ts'
import { assertVerified } from './verified.ts'

export const log = pino({ level: 'silent' })
export const price = { input: 100_000n, output: 400_000n }
/** The most that `ask` can cost: 10 input and 20 output tokens at that price. */
export const mostOfOne = 10n * price.input + 20n * price.output

export interface Limits {
  readonly credit?: bigint
  readonly monthlyLimit?: bigint
  readonly requests?: number
  readonly tokens?: number
}

export interface Tills {
  readonly url: string
  readonly database: Database
  readonly tills: readonly Till[]
  /** The till at an index modulo their number. */
  nth(index: number): Till
  /** An open account with one key. */
  addAccount(limits: Limits): Promise<Payer>
  /** `left` is neither charged nor held. */
  account(payer: Payer): Promise<{ charged: bigint; held: bigint; left: bigint }>
  ledgerRows(payer: Payer): Promise<{ request_id: string; cost: bigint; output_tokens: number }[]>
  /** Drains the tills. Asserts that the books are correct and no instance is left. */
  close(): Promise<void>
}

/** Opens this many tills on one new database. */
export async function openTills(count: number, waits: DatabasePatience = patience): Promise<Tills> {
  const home = await createTestDatabase()
  const databases = Array.from({ length: count }, () => openDatabase(home.url, { log, ...waits }))
  const tills = await Promise.all(databases.map((database) => createTill({ database, log })))
  const database = databases[0] ?? assert.fail()

  return {
    url: home.url,
    database,
    tills,
    nth: (index) => tills[index % tills.length] ?? assert.fail(),
    async addAccount({ credit = 0n, monthlyLimit, requests = 1_000_000, tokens = 100_000_000 }) {
      const [accountId, keyId] = [randomUUIDv7(), randomUUIDv7()]
      await database.transaction(async (tx) => {
        await tx.rows(`insert into audit (actor, action, outcome) values ('service', 'account_created', 'allowed')`)
        await tx.rows(
          `insert into account (id, name, requests_per_minute, tokens_per_minute, monthly_limit, credited, request_level,
           token_level)
         values ($1, $1::uuid::text, $2::integer, $3::integer, $4, $5, $2::integer * 60000000::bigint, $3::integer * 60000000::bigint)`,
          [accountId, requests, tokens, monthlyLimit, credit],
        )
        if (credit > 0n) {
          await tx.rows('insert into credit_entry (id, account_id, amount) values ($1, $2, $3)', [
            randomUUIDv7(),
            accountId,
            credit,
          ])
        }
        await tx.rows(
          `insert into api_key (id, public_id, secret_hash, account_id, name)
         values ($1::text::uuid, $1::text, sha256($1::text::bytea), $2, 'test')`,
          [keyId, accountId],
        )
      })
      return { accountId, keyId }
    },
    async account({ accountId }) {
      await foldCharges(database)
      const [row] = await database.rows<{ charged: bigint; held: bigint; left: bigint }>(
        `select charged, held, coalesce(monthly_limit - month_charged, credited - charged) - held as left
         from account where id = $1`,
        [accountId],
      )
      return row ?? assert.fail()
    },
    ledgerRows: ({ accountId }) =>
      database.rows('select request_id, cost, output_tokens from ledger where account_id = $1', [accountId]),
    async close() {
      await inTime('draining', Promise.all(tills.map((till) => till.drain())))
      assertVerified((await inTime('proving the books', verifyBooks(database))).checks)
      assert.deepEqual(await database.rows('select id from instance'), [], 'drained instances are removed')
      const lent = await database.rows(
        'select id from account where (credit_lent, requests_lent, tokens_lent) <> (0, 0, 0)',
      )
      assert.deepEqual(lent, [], 'and have returned their allowances')
      const lentByKeys = await database.rows(
        'select id from key_limit where (credit_lent, requests_lent, tokens_lent) <> (0, 0, 0)',
      )
      assert.deepEqual(lentByKeys, [], 'those of keys, too')
      const lentByBudgets = await database.rows('select id from budget where (credit_lent, held) <> (0, 0)')
      assert.deepEqual(lentByBudgets, [], 'and those of budgets')
      await Promise.all(databases.map((each) => each.close()))
      await home.drop()
    },
  }
}

/** Reaps the instances that the condition selects, as if they were dead. They cannot send anything in between. */
export async function reapWhere(database: Database, condition: string, values: readonly unknown[] = []): Promise<void> {
  await database.transaction(async (tx) => {
    const rows = await tx.rows<{ id: string; last: bigint }>(
      `select id, last_batch as last from instance where ${condition} for update`,
      values,
    )
    for (const { id, last } of rows) {
      assert.deepEqual(await tx.rows('select reap($1, $2) as reaped', [id, last]), [{ reaped: true }])
    }
  })
}

export const ask = (payer: Payer, rest: Partial<HoldRequest> = {}): HoldRequest => ({
  requestId: randomUUIDv7(),
  payer,
  model: 'm',
  inputTokens: 10,
  maxOutputTokens: 20,
  price,
  ...rest,
})

export const used = (outputTokens: number, rest: Partial<Charge> = {}): Charge => ({
  inputTokens: 10,
  outputTokens,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  stopReason: 'complete',
  source: 'model',
  milliseconds: 1,
  ...rest,
})

/** Resolves with the code of the refusal, or 'admitted'. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'admitted'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

/** Admits a request that needs what another instance has: on a busy machine, that may return it later than one request waits for it. */
export const admitReturned = (till: Till, request: HoldRequest): Promise<void> =>
  until(async () => (await outcome(till.admit(request))) === 'admitted')
