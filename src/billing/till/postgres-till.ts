import type { Logger } from 'pino'
import { withinPatience, type Database } from '../../platform/database/database.ts'
import { createAdmissions } from './admissions.ts'
import { createAllowances, type Allowances } from '../allowances/allowances.ts'
import { openBatches } from './batches.ts'
import { readLevels } from './levels.ts'
import { createSettlements } from './settlements.ts'
import type { Payer } from '../payer.ts'
import type { HoldRequest, Replay, TakenSpare, Till } from './till.ts'
import { levelsOf, refusalOf } from './limits.ts'
import { readPrecheck, readStoredReply, returnSpare, takeSpare } from './store.ts'
import { replayOf } from './replay.ts'

/** Opens this instance's till on PostgreSQL. Throws Problem `unavailable` without a database. */
export async function createTill({ database, log }: { database: Database; log: Logger }): Promise<Till> {
  const allowances = createAllowances()
  const batches = await openBatches({ database, allowances, log })
  const admissions = createAdmissions({ database, allowances, batches })
  const settlements = createSettlements({ allowances, batches, log })

  /** Both go into one call, or the release into an earlier one. A call settles and releases before it admits. */
  async function reprice(request: HoldRequest) {
    const { requestId, payer } = request
    const [, repriced] = await Promise.all([
      settlements.release(requestId, payer.accountId),
      admissions.readmit(request),
    ])
    return repriced
  }

  return Object.freeze({
    admit: admissions.admit,
    precheck: (least: HoldRequest) => precheck({ database, allowances }, least),
    storedReply: (payer: Payer, key: string) => storedReply({ database, allowances }, payer, key),
    reprice,
    settle: settlements.settle,
    release: settlements.release,
    takeRequest: admissions.takeRequest,
    takeSpare: (payer: Payer, tokens: number) => takeSpare(database, payer, tokens),
    returnSpare: (payer: Payer, spare: TakenSpare) => returnSpare(database, payer, spare),
    levels: (payer: Payer) => readLevels({ database, allowances }, payer),
    unchargedTokens: settlements.unchargedTokens,
    drain: () => batches.drain(),
  })
}

interface Reading {
  readonly database: Database
  readonly allowances: Allowances
}

async function storedReply(needs: Reading, payer: Payer, key: string): Promise<Replay | undefined> {
  const { database } = needs
  const [row, levels] = await Promise.all([
    withinPatience(database, readStoredReply(database, payer.accountId, key)),
    readLevels(needs, payer),
  ])
  return row && levels && replayOf(database, row, levels)
}

/** Implements `precheck` of the till. Needs no database if the account's allowance covers the request. */
async function precheck({ database, allowances }: Reading, least: HoldRequest): Promise<Replay | undefined> {
  if (least.idempotency === undefined && allowances.covers(least)) return undefined
  const row = await withinPatience(database, readPrecheck(database, least))
  const levels = levelsOf(row)
  if (row === undefined || levels === undefined) return undefined
  const tokens = least.inputTokens + least.maxOutputTokens
  if (row.outcome === 'admitted') return undefined
  const replay = await replayOf(database, row, levels)
  if (replay) return replay
  throw refusalOf(row, `at least ${tokens}`, least.payer.budgets)
}
