import type { Logger } from 'pino'
import type { Records } from '../clients/records.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Feature } from '../platform/feature.ts'
import { repeat, type RepeatedWork } from '../platform/flow/repeat.ts'
import { createCredentialChanges } from '../signin/credential-change.ts'
import { createPeopleAdmin } from './admin.ts'
import { ensureFirstPartner } from './first-partner.ts'
import { createGrants } from './grants/grants.ts'
import { createInvitations } from './invitations/invitations.ts'
import { removeOverInvitations, type InvitationRemoval } from './invitations/over-invitations.ts'
import { createPeople, type People } from './people.ts'
import { peopleExamples, registerPeople, type PeopleRouteNeeds } from './routes.ts'
import type { Audit } from '../access/audit/audit.ts'

interface PeopleNeeds extends Pick<PeopleRouteNeeds, 'sessions' | 'baseUrl'> {
  readonly config: Pick<Config, 'sign_in'>
  readonly database: Database
  readonly audit: Audit
  readonly mailer: Mailer | undefined
  readonly records: Pick<Records, 'handover' | 'counts'>
  readonly log: Logger
}

export interface PeopleFeature extends Feature {
  readonly people: People
  close(this: void): Promise<void>
}

/** Opens the people of the portal, and creates the configured first partner. */
export async function openPeople(needs: PeopleNeeds): Promise<PeopleFeature> {
  const { config, database, audit, mailer, records, sessions, log } = needs
  const { sign_up: policy, first_partner: address } = config.sign_in
  await ensureFirstPartner({ database, audit, address })
  const people = createPeople({ database, audit })
  const changes = createCredentialChanges({ sessions, audit, mailer })
  const { handover } = records
  const admin = createPeopleAdmin({ database, audit, changes, countClientsOf: handover.count })
  const invitations = createInvitations({ ...needs, policy })
  const housekeeping = startPeopleHousekeeping({ database, audit, log })
  const grants = createGrants({ database, audit })
  const routeNeeds = { ...needs, people, admin, invitations, grants, handover, countClients: records.counts }
  return Object.freeze({
    people,
    routes: (server) => registerPeople(server, routeNeeds),
    examples: peopleExamples,
    close: () => housekeeping.stop(),
  } satisfies PeopleFeature)
}

const minute = 60_000

/** Removes invitations that have been over for long, every minute. Safe on any number of instances at once. */
function startPeopleHousekeeping(needs: InvitationRemoval & { readonly log: Logger }): RepeatedWork {
  return repeat({
    name: 'removal of old invitations',
    pause: minute,
    work: () => removeOverInvitations(needs),
    log: needs.log,
  })
}
