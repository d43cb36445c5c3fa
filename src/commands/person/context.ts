import type { Handover } from '../../clients/handover/handover.ts'
import type { PeopleAdmin } from '../../people/admin.ts'
import type { Grants } from '../../people/grants/grants.ts'
import type { Invitations } from '../../people/invitations/invitations.ts'
import type { People } from '../../people/people.ts'
import type { PersonSummary } from '../../people/person.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { OperatorError } from '../../platform/problems.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import type { Context } from '../context.ts'
import { timeOrNull } from '../output/output.ts'

/** The dependencies of commands that change people's sign-in methods and clients. */
interface PeopleParts {
  readonly people: People
  readonly admin: PeopleAdmin
  readonly invitations: Invitations
  readonly handover: Handover
  readonly sessions: Sessions
}

/** The arguments of a command for one person. */
export const whichPerson = ['<person>', 'their email address or id'] as const

/** Runs a command on the list of people and their grants. */
export async function withPeople<T>(
  context: Context,
  work: (people: People, grants: Grants) => Promise<T>,
): Promise<T> {
  const database = await context.database()
  const { createAudit } = await import('../../access/audit/audit.ts')
  const { createGrants } = await import('../../people/grants/grants.ts')
  const { createPeople } = await import('../../people/people.ts')
  await using opened = new AsyncDisposableStack()
  const audit = opened.adopt(createAudit({ database }), (it) => it.close())
  return await work(createPeople({ database, audit }), createGrants({ database, audit }))
}

/** Runs a command that changes more. Mail about it is queued; the service sends it. */
export async function withPeopleParts<T>(context: Context, work: (parts: PeopleParts) => Promise<T>): Promise<T> {
  const [database, config, log] = [await context.database(), await context.config(), await context.log()]
  const databaseUrl = await context.databaseUrl()
  const { createAudit } = await import('../../access/audit/audit.ts')
  const { createAccess } = await import('../../access/access.ts')
  const { openPortal } = await import('../../access/portal/portal.ts')
  const { createRecords } = await import('../../clients/records.ts')
  const { openOutbox } = await import('../../mail/open.ts')
  const { openEncryption } = await import('../../platform/encryption/encryption-check.ts')
  const { createPeopleAdmin } = await import('../../people/admin.ts')
  const { createInvitations } = await import('../../people/invitations/invitations.ts')
  const { createPeople } = await import('../../people/people.ts')
  const { createCredentialChanges } = await import('../../signin/credential-change.ts')
  const { createSessions } = await import('../../signin/session/sessions.ts')
  await using opened = new AsyncDisposableStack()
  const audit = opened.adopt(createAudit({ database }), (it) => it.close())
  // Without mail, no command needs the key.
  const encryption = config.mail && (await openEncryption(database, config))
  const outbox = encryption && (await openOutbox({ databaseUrl, encryption, log }))
  const mailer = opened.adopt(outbox, async (it) => it?.close())
  // No statement timeout: a person may have very many clients.
  const portal = await openPortal({ databaseUrl, log, connections: 1, statementTimeout: 0 })
  opened.defer(() => portal.close())
  const { handover } = createRecords({ access: createAccess({ portal, audit }), currency: config.currency })
  const sessions = opened.adopt(createSessions({ database, audit, log, lifetimes: config.session }), (it) => it.close())
  const changes = createCredentialChanges({ sessions, audit, mailer })
  const { base_url: baseUrl, sign_in: signIn } = config
  return await work({
    people: createPeople({ database, audit }),
    admin: createPeopleAdmin({ database, audit, changes, countClientsOf: handover.count }),
    // Without the mailer, so that the command can print the link.
    invitations: createInvitations({ database, audit, mailer: undefined, policy: signIn.sign_up, baseUrl }),
    handover,
    sessions,
  })
}

export async function findPerson(people: People, idOrEmail: string): Promise<PersonSummary> {
  if (isUuid(idOrEmail)) return people.show(idOrEmail)
  const person = await people.byEmail(idOrEmail)
  if (person !== undefined) return person
  throw new OperatorError(`Nobody has the address ${quoted(idOrEmail)}. List the people: ./tollgate person list`)
}

export function personDocument({ id, name, email, role, status, createdAt, lastSignedInAt }: PersonSummary): object {
  return {
    id,
    name,
    email,
    role,
    status,
    created_at: createdAt.toISOString(),
    last_signed_in_at: timeOrNull(lastSignedInAt),
  }
}
