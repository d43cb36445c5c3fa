import type { Database } from '../../platform/database/database.ts'
import { formatSeal } from '../../platform/seals/seal-line.ts'
import { verifyChain } from '../../platform/seals/verify.ts'
import type { VerifyCheck } from '../../platform/verify-checks.ts'
import type { Visit } from '../actor.ts'
import type { Audit } from './audit.ts'
import type { AuditProof } from '../schema.ts'

/** So that the check of a long log ends within seconds: the rows to read, and the ms that a statement may take. */
const bounds = { sample: 100_000, mostTime: 5000 }

interface AuditVerificationNeeds {
  readonly database: Database
  readonly audit: Pick<Audit, 'record'>
}

/**
 * Checks that the audit log is as it was sealed. Requests at the same time share one check. Of a long log it reads the
 * newest rows and a part that is another one each day. Throws Problem `unavailable` if it takes too long.
 */
export function createAuditVerification({ database, audit }: AuditVerificationNeeds) {
  let running: Promise<AuditProof> | undefined

  return async (visit: Visit): Promise<AuditProof> => {
    running ??= proofOf(database).finally(() => (running = undefined))
    const proof = await running
    const details = { ok: String(proof.ok), rows: String(proof.rows) }
    await audit.record({ ...visit, action: 'audit_verified', outcome: 'allowed', noun: 'audit', details })
    return proof
  }
}

async function proofOf(database: Database): Promise<AuditProof> {
  const { checks, rows, last } = await verifyChain(database, 'audit', bounds)
  return {
    ok: checks.every(({ ok }) => ok),
    rows: Number(rows),
    last_seal: last === undefined ? null : formatSeal(last),
    checks: checks.map(present),
  }
}

function present({ name, ok, faults, sample }: VerifyCheck): AuditProof['checks'][number] {
  return { name, ok, read: sample ?? null, faults: faults.map(described) }
}

/** `row 417, at 2026-…, fault it was changed` */
function described(fault: object): string {
  const parts = Object.entries(fault).map(
    ([name, value]) => `${name} ${value instanceof Date ? value.toISOString() : String(value)}`,
  )
  return parts.join(', ')
}
