import type { Audit } from '../../src/access/audit/audit.ts'
import { createInvitations, type Invitations } from '../../src/people/invitations/invitations.ts'
import type { Database } from '../../src/platform/database/database.ts'

/** Invitations whose links are handed over, because no mail is configured. */
export function handedInvitations(database: Database, audit: Audit): Invitations {
  const policy = { policy: 'invited' as const, domains: [] }
  return createInvitations({ database, audit, mailer: undefined, policy, baseUrl: 'https://tollgate.test' })
}
