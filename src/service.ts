import path from 'node:path'
import type { Logger } from 'pino'
import type { Audit } from './access/audit/audit.ts'
import { openAccess, openAuditLog } from './access/open.ts'
import type { Accounts } from './accounts/accounts.ts'
import type { Keys } from './accounts/keys/keys.ts'
import { openAccounts } from './accounts/open.ts'
import { openAlerts } from './alerts/open.ts'
import { buildApp } from './app.ts'
import { openBatchQueue } from './batches/open.ts'
import { openBilling } from './billing/open.ts'
import { openClientData } from './client-data/open.ts'
import { createKeptLetterMails } from './clients/letters/mail/sending.ts'
import { openClients } from './clients/open.ts'
import type { Records } from './clients/records.ts'
import { createWritingThread } from './documents/writing-thread.ts'
import { openDrafting } from './drafting/open.ts'
import { openGeneration } from './generation/open.ts'
import { nameForSamples } from './generation/routes.ts'
import { createPayerMails } from './invoicing/mail/sending.ts'
import { openInvoicing } from './invoicing/open.ts'
import { openMailer, type OpenMailer } from './mail/open.ts'
import { loadPackages, openModelConsole, openModels } from './models/open.ts'
import { modelNamesOf } from './models/routes.ts'
import { openOverview } from './overview/open.ts'
import { createIdentities, type Identities } from './people/identities.ts'
import { openPeople } from './people/open.ts'
import type { People } from './people/people.ts'
import type { Config } from './platform/config/config.ts'
import { openDatabase, type Database, type DatabasePatience } from './platform/database/database.ts'
import { migrate } from './platform/database/migrations.ts'
import { createWriteProbe } from './platform/database/write-probe-store.ts'
import { openEncryption } from './platform/encryption/encryption-check.ts'
import { readLogo, type Logo } from './platform/http/pages/logo.ts'
import { loadPages } from './platform/http/pages/pages.ts'
import type { Server } from './platform/http/server.ts'
import { createMetrics, type Metrics } from './platform/metrics.ts'
import { startSealing } from './platform/seals/sealing.ts'
import { version } from './platform/version.ts'
import { openSignIn, type AdditionalMethods } from './signin/open.ts'
import { signInUrl } from './signin/routes.ts'
import { createSessions, type Session, type Sessions } from './signin/session/sessions.ts'
import { createSignUp } from './signin/sign-up.ts'
import { openUsage } from './usage/open.ts'

/** One instance: everything opened and put together, not yet listening. */
export interface Service {
  readonly app: Awaited<ReturnType<typeof buildApp>>
  readonly accounts: Accounts
  readonly keys: Keys
  readonly people: People
  readonly identities: Identities
  readonly audit: Audit
  readonly sessions: Sessions
  readonly records: Records
  readonly database: Database
  /** Makes `/readyz` return 503 from now on. Everything is still served. */
  leave(): void
  /** Requests in flight finish and are settled, new ones are refused, then everything is closed. */
  close(): Promise<void>
}

export interface ServiceNeeds {
  readonly config: Config
  /** The address of the database. */
  readonly databaseUrl: string
  readonly log: Logger
  /** ms that idle connections stay open when the service closes. Default 1000. */
  readonly idleGrace?: number
  /** ms between two looks for drafts whose instances have stopped. Default 5000. */
  readonly recoveryPause?: number
  /** How long to wait for the database. */
  readonly patience?: DatabasePatience
  /** Interrupts the migration. */
  readonly stop?: AbortSignal
  /** Sign-in methods and second factors besides the configured ones. */
  readonly additional?: AdditionalMethods
  /** The text of /metrics. Default: the metrics of this process. */
  readonly metricsText?: () => Promise<string>
  /** Resolves when the connections that another process has accepted for this one have arrived. */
  readonly handedOver?: () => Promise<void>
}

/** Where `scripts/setup.js` puts the pages that it builds. */
const builtPages = path.join(import.meta.dirname, '../web/dist')

/**
 * Puts one instance together, migrations included. Throws OperatorError when the database or the configuration does not
 * allow it; nothing is left open then.
 */
export async function openService(needs: ServiceNeeds): Promise<Service> {
  const { config, databaseUrl, log, additional, stop, patience } = needs
  const { currency, firm, base_url: baseUrl } = config
  const pages = await openPages(config)
  const providers = await loadPackages(config)
  await migrate(databaseUrl, { ...(stop && { stop }), onWait: (line) => log.warn(line) })

  await using opened = new AsyncDisposableStack()
  const open = <Part extends { close(): Promise<void> }>(part: Part): Part => opened.adopt(part, (it) => it.close())
  const metrics = createMetrics()
  const database = open(openDatabase(databaseUrl, { log, ...patience }))
  const encryption = await openEncryption(database, config)
  const { locale, time_zone: timeZone } = firm
  const common = { config, log, metrics, database, databaseUrl, encryption, baseUrl, currency, locale, timeZone }

  const { till, prices } = open(await openBilling(common))
  open(startSealing(common))
  const { audit, access } = open(await openAccess(common))
  const { session: lifetimes, sign_in } = config
  const sessions = open(createSessions({ ...common, audit, lifetimes, secondFactor: sign_in.second_factor }))
  const portal = { ...common, audit, access, sessions }

  const models = open(await openModels({ ...common, prices, providers }))
  const { catalogue } = models
  const billed = open(openAccounts({ ...portal, modelNames: () => modelNamesOf(catalogue) }))
  const { accounts, keys } = billed
  const thread = open(createWritingThread())
  const identities = createIdentities(portal)
  const signUp = createSignUp({ policy: sign_in.sign_up, identities })
  const { recipientOf } = signUp
  const kept = { payer: createPayerMails(common), letter: createKeptLetterMails(common) }
  const mailer = await openMailer({ ...portal, recipientOf, kept })
  if (mailer) watchMails(metrics, open(mailer))
  const clients = open(await openClients({ ...portal, mailer, thread }))
  const { records, contents, letterMails } = clients
  const signIn = open(await openSignIn({ ...portal, identities, signUp, mailer, additional }))
  const directory = open(await openPeople({ ...portal, mailer, records }))
  const invoicing = open(openInvoicing({ ...portal, mailer, thread }))
  const overview = open(openOverview({ ...portal, mailer, addresses: signIn.own.calendar }))
  const alerts = open(openAlerts({ ...portal, mailer, accounts }))
  const usage = open(openUsage(portal))
  const { own, refusals } = usage
  const isClient = records.exists
  const moreCalls = (v1: Server) => batches.calls(v1)
  const api = openGeneration({ ...portal, accounts, keys, catalogue, till, own, refusals, isClient, moreCalls })
  const { generation, queuedCalls } = api
  const batches = open(openBatchQueue({ ...portal, generation, queuedCalls, keys, till, isClient }))
  const letters = open(openDrafting({ ...portal, accounts, generation, records, recoveryPause: needs.recoveryPause }))
  const { drafting } = letters
  const { invoices, invoiceFiles, invoiceMails } = invoicing
  const clientData = open(
    openClientData({
      ...portal,
      records,
      contents,
      letterMails,
      drafting,
      invoices,
      invoiceFiles,
      invoiceMails,
      thread,
    }),
  )

  const redirects = signIn.methods.filter(({ kind }) => kind === 'redirect')
  const app = open(
    await buildApp({
      ...needs,
      ...portal,
      signIn,
      pages,
      features: [
        api,
        signIn,
        overview,
        directory,
        clients,
        billed,
        alerts,
        batches,
        invoicing,
        openModelConsole({ ...portal, accounts, keys, catalogue, prices }),
        letters,
        clientData,
        openAuditLog(portal),
        usage,
      ],
      health: {
        version,
        databaseWritable: createWriteProbe(database),
        models: models.ready,
        providers: () => Object.fromEntries(redirects.map(({ id, state }) => [id, state])),
      },
      sampleModel: () => nameForSamples(catalogue),
    }),
  )
  const parts = opened.move()
  return Object.freeze({
    app,
    accounts,
    keys,
    people: directory.people,
    identities,
    audit,
    sessions,
    records,
    database,
    leave: () => app.leave(),
    close: () => parts.disposeAsync(),
  })
}

function watchMails({ watch }: Metrics, { ends }: OpenMailer): void {
  watch('tollgate_mails_sent', 'Mails that the mail server accepted.', () => ends().sent)
  watch('tollgate_mails_given_up', 'Mails that could not be sent.', () => ends().given_up)
}

/** Reads the pages and the logo of the firm. Throws OperatorError if they cannot be read. */
function openPages(config: Config) {
  const logo = config.firm.logo === undefined ? undefined : readLogo(config.firm.logo)
  return loadPages({
    folder: builtPages,
    viewer: ({ session }) => session && presentViewer(session),
    signInUrl,
    settings: presentSettings(config, logo),
    logo,
  })
}

/** The viewer in the data of a page. Times are ms from now, because the browser's clock may be wrong. */
function presentViewer({ person, endsAt, idleEndsAt }: Session): object {
  const now = Date.now()
  return { person, idle_ends_in: idleEndsAt.getTime() - now, ends_in: endsAt.getTime() - now }
}

/** The settings in the data of each page. */
function presentSettings(
  { drafting, currency, firm: { name, locale, time_zone } }: Config,
  logo: Logo | undefined,
): object {
  return {
    firm: { ...(name !== undefined && { name }), ...(logo && { logo: `/assets/${logo.name}` }), locale, time_zone },
    drafting: drafting === undefined ? null : { model: drafting.model, currency },
  }
}
