import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { createAdmissions } from './admissions.ts'
import { createAllowances } from '../allowances/allowances.ts'
import { openBatches } from './batches.ts'
import { readLevels } from './levels.ts'
import { createSettlements } from './settlements.ts'
import type { Payer } from '../payer.ts'
import { precheck } from './precheck.ts'
import type { AdmissionRequest, Till } from './till.ts'

/** Opens this instance's till on PostgreSQL. Throws Problem `unavailable` without a database. */
export async function createTill({ database, log }: { database: Database; log: Logger }): Promise<Till> {
  const allowances = createAllowances()
  const batches = await openBatches({ database, allowances, log })
  const admissions = createAdmissions({ database, allowances, batches })
  const settlements = createSettlements({ allowances, batches, log })

  /** Both go into one call, or the release into an earlier one. A call settles and releases before it admits. */
  async function reprice(request: AdmissionRequest) {
    const { requestId, payer } = request
    const [, repriced] = await Promise.all([
      settlements.release(requestId, payer.accountId),
      admissions.readmit(request),
    ])
    return repriced
  }

  return Object.freeze({
    admit: admissions.admit,
    precheck: (least: AdmissionRequest) => precheck({ database, allowances }, least),
    reprice,
    settle: settlements.settle,
    release: settlements.release,
    takeRequest: admissions.takeRequest,
    levels: (payer: Payer) => readLevels({ database, allowances }, payer),
    unchargedTokens: settlements.unchargedTokens,
    drain: () => batches.drain(),
  })
}
