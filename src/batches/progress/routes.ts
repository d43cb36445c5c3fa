import type { RecordAccess } from '../../access/access.ts'
import type { Audit } from '../../access/audit/audit.ts'
import { permitted, permittedOnAccount } from '../../access/permitted.ts'
import { may } from '../../access/policy.ts'
import { readerOf } from '../../access/portal/reader.ts'
import { visitOf } from '../../access/visits.ts'
import type { Database } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import type { ExampleValues } from '../../platform/http/examples.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem } from '../../platform/problems.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import { createUsageReads } from '../../usage/reads.ts'
import { idOf } from '../ids.ts'
import * as operations from './operations.ts'
import { presentProgress } from './present.ts'
import { cancelForAccount, noAccount, readBatchPage } from './progress.ts'
import type { AccountBatches } from './schema.ts'

export interface BatchProgressRouteNeeds {
  readonly database: Database
  readonly access: RecordAccess
  readonly audit: Pick<Audit, 'record'>
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  /** Ends what was cancelled soon. */
  readonly wake: () => void
}

/** The batches of an account: for partners, who may cancel them, and for developers who were granted it. */
export function registerBatchProgress(server: Server, needs: BatchProgressRouteNeeds): void {
  const { database, access, wake } = needs
  const reads = createUsageReads(needs)

  server.get(
    '/accounts/:account/batches',
    { onRequest: permittedOnAccount(needs, 'read', 'usage'), schema: operations.listAccountBatches },
    async (request, reply) => {
      const [visit, { query }] = [visitOf(request), request]
      const { cursor, limit } = query
      const accountId = accountIn(request.params.account)
      const reader = may(visit.actor, 'read', 'usage') ? database : readerOf(access, visit)
      const asked = { accountId, before: cursorIn(cursor), limit: Number(limit ?? 50) }
      const { batches, next } = await readBatchPage(reader, asked)
      await reads.page(visit, { action: 'account_batches_listed', noun: 'account', nounId: accountId }, query)
      const data = { batches: batches.map(presentProgress), next } satisfies AccountBatches
      return represent(reply, request, { data })
    },
  )

  server.post(
    '/accounts/:account/batches/:batch/cancel',
    { onRequest: permitted(needs, 'change', 'account'), schema: operations.cancelAccountBatch },
    async (request) => {
      const { account, batch } = request.params
      const which = { accountId: accountIn(account), id: idOf(batch) }
      const cancelled = await cancelForAccount(database, which, visitOf(request))
      wake()
      return presentProgress(cancelled)
    },
  )
}

function accountIn(id: string): string {
  if (!isUuid(id)) throw noAccount(id)
  return id
}

function cursorIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined || isUuid(cursor)) return cursor
  throw new Problem('invalid_field', 'The field cursor must be `next` of the previous page.', { field: 'cursor' })
}

const account = '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16'
const batch = 'batch_0199c3b88d1e7c4a9f3062b1d5e7a048'

/** A batch that runs, for the documentation. */
export const batchProgressExamples = {
  'Account batches': {
    account,
    account_id: account,
    batch,
    batch_id: batch,
    dialect: 'openai',
    status: 'in_progress',
    lines: 1200,
    succeeded: 845,
    failed: 2,
    waits_for: 'limits',
    created_at: '2026-03-12T14:05:09.123Z',
    expires_at: '2026-03-13T14:05:09.123Z',
    ended_at: null,
    results_until: null,
    next: null,
    'cancelAccountBatch.response.status': 'cancelling',
    'cancelAccountBatch.response.waits_for': null,
  },
} satisfies ExampleValues
