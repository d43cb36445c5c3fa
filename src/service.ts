import path from 'node:path'
import type { Logger } from 'pino'
import { createAccess } from './access/access.ts'
import { createAudit, type Audit } from './access/audit/audit.ts'
import { openPortal } from './access/portal/portal.ts'
import { createAccounts, type Accounts } from './accounts/accounts.ts'
import { createKeys, type Keys } from './accounts/keys/keys.ts'
import { createAlerts } from './alerts/alerts.ts'
import { startAlerts } from './alerts/watch.ts'
import { buildApp } from './app.ts'
import { confirmOpenCurrency, openCurrency } from './billing/currency/currency.ts'
import { startHousekeeping } from './billing/instance/housekeeping.ts'
import { priceOf } from './billing/prices/price-rule.ts'
import { createPrices, type Price } from './billing/prices/prices.ts'
import { createTill } from './billing/till/postgres-till.ts'
import { startErasing } from './client-data/erasing.ts'
import { createLetterFiles } from './clients/letters/files.ts'
import { createRecords, type Records } from './clients/records.ts'
import { createWritingThread } from './documents/writing-thread.ts'
import { createCatalogue } from './models/catalogue.ts'
import { buildModel } from './models/configured.ts'
import { createDetection } from './models/reported/detection.ts'
import { createCountingThread } from './models/tokenizer/tokenizer.ts'
import { loadProviders } from './models/upstream/ai-sdk/provider.ts'
import { createIdentities, type Identities } from './people/identities.ts'
import { createInvoiceFiles } from './invoicing/files/files.ts'
import { createInvoices } from './invoicing/invoices.ts'
import { startMonthlyRun } from './invoicing/run/job.ts'
import { createPayerMails, startInvoiceMail } from './invoicing/mail/sending.ts'
import { createInvoiceMails } from './invoicing/mail/mails.ts'
import { invoiceSettings } from './invoicing/settings.ts'
import { openMailer } from './mail/configured.ts'
import { createPeopleAdmin } from './people/admin.ts'
import { ensureFirstPartner } from './people/first-partner.ts'
import { startPeopleHousekeeping } from './people/housekeeping.ts'
import { createInvitations } from './people/invitations/invitations.ts'
import { createPeople, type People } from './people/people.ts'
import type { Config, ModelConfig } from './platform/config/config.ts'
import { openDatabase, type Database, type DatabasePatience } from './platform/database/database.ts'
import { openEncryption } from './platform/encryption/encryption-check.ts'
import { migrate } from './platform/database/migrations.ts'
import { readLogo, type Logo } from './platform/http/pages/logo.ts'
import { loadPages } from './platform/http/pages/pages.ts'
import { startSealing } from './platform/seals/sealing.ts'
import { openSignIn, type AdditionalMethods } from './signin/configured.ts'
import { createCredentialChanges } from './signin/credential-change.ts'
import { signInUrl } from './signin/routes.ts'
import { createSignUp } from './signin/sign-up.ts'
import { createSessions, type Session, type Sessions } from './signin/session/sessions.ts'
import { createApiRefusals } from './usage/requests/refusals.ts'

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
  const { config, databaseUrl, log, additional, stop } = needs
  const logo = config.firm.logo === undefined ? undefined : readLogo(config.firm.logo)
  const pages = await loadPages({
    folder: builtPages,
    viewer: ({ session }) => session && presentViewer(session),
    signInUrl,
    settings: presentSettings(config, logo),
    logo,
  })
  const providers = await loadConfiguredProviders(config)
  await migrate(databaseUrl, { ...(stop && { stop }), onWait: (line) => log.warn(line) })
  await using opened = new AsyncDisposableStack()
  const database = opened.adopt(openDatabase(databaseUrl, { log, ...needs.patience }), (it) => it.close())
  const encryption = await openEncryption(database, config)
  await openCurrency(database, config.currency)
  const till = opened.adopt(await createTill({ database, log }), (it) => it.drain())
  await confirmOpenCurrency(database, config.currency)
  const prices = opened.adopt(createPrices({ database, log }), (it) => it.close())
  await prices.sync(configuredPrices(config))
  const accounts = createAccounts({ database })
  const keys = opened.adopt(createKeys({ database, log }), (it) => it.close())
  opened.adopt(startHousekeeping({ database, log }), (it) => it.close())
  opened.adopt(startSealing({ database, log }), (it) => it.close())
  const audit = opened.adopt(createAudit({ database }), (it) => it.close())
  const refusals = opened.adopt(createApiRefusals({ database, log }), (it) => it.close())
  const portal = opened.adopt(await openPortal({ databaseUrl, log }), (it) => it.close())
  const records = createRecords({
    access: createAccess({ portal, audit }),
    currency: config.currency,
    billing: {
      hourlyRate: config.invoicing.hourly_rate,
      taxes: [...invoiceSettings(config).taxes.keys()],
      timeZone: config.firm.time_zone,
    },
  })
  const writing = opened.adopt(createWritingThread(), (it) => it.close())
  opened.adopt(startErasing({ database, databaseUrl, retention: config.retention, log }), (it) => it.close())
  const people = createPeople({ database, audit })
  opened.adopt(startPeopleHousekeeping({ database, audit, log }), (it) => it.stop())
  await ensureFirstPartner({ database, audit, address: config.sign_in.first_partner })
  const identities = createIdentities({ database, audit })
  const sessions = opened.adopt(
    createSessions({
      database,
      audit,
      log,
      lifetimes: config.session,
      secondFactor: config.sign_in.second_factor,
    }),
    (it) => it.close(),
  )
  const signUp = createSignUp({ policy: config.sign_in.sign_up, identities })
  const mailer = opened.adopt(
    await openMailer({
      config,
      databaseUrl,
      encryption,
      audit,
      log,
      recipientOf: signUp.recipientOf,
      payerMails: createPayerMails({ database, timeZone: config.firm.time_zone }),
    }),
    async (it) => it?.close(),
  )
  const invoicing = { access: records.access, database, settings: invoiceSettings(config) }
  opened.adopt(
    startMonthlyRun({
      ...invoicing,
      databaseUrl,
      run: config.invoicing,
      unprintable: (texts) => writing.missingIn({ texts }),
      log,
    }),
    (it) => it.close(),
  )
  const invoiceFiles = createInvoiceFiles({ ...invoicing, thread: writing })
  const invoiceMails = createInvoiceMails({
    ...invoicing,
    locale: config.firm.locale,
    hasMail: mailer !== undefined,
    pdf: (document) => invoiceFiles.pdf(document),
  })
  opened.adopt(
    startInvoiceMail({
      ...invoicing,
      ...config.invoicing,
      timeZone: config.firm.time_zone,
      mailer,
      mails: invoiceMails,
      log,
    }),
    (it) => it.close(),
  )
  const { currency } = config
  const allowedNetworks = config.alerts.allowed_networks
  const alerts = createAlerts({ database, accounts, encryption, hasMail: mailer !== undefined, allowedNetworks })
  opened.adopt(startAlerts({ database, log, mailer, encryption, currency, allowedNetworks }), (it) => it.close())
  const changes = createCredentialChanges({ sessions, audit, mailer })
  const signIn = opened.adopt(
    await openSignIn({ config, database, encryption, identities, signUp, mailer, audit, sessions, log, additional }),
    (it) => it.close(),
  )
  const thread = opened.adopt(createCountingThread(), (it) => it.close())
  const detection = opened.adopt(createDetection({ log }), (it) => it.close())
  const build = (entry: ModelConfig) => buildModel(entry, { providers, thread, detection, log })
  const { models, aliases } = config
  const catalogue = opened.adopt(await createCatalogue({ models, aliases, prices, build, log }), (it) => it.close())
  detection.start()
  const app = opened.adopt(
    await buildApp({
      log,
      database,
      accounts,
      alerts,
      keys,
      prices,
      defaultLimits: defaultLimitsOf(config),
      till,
      catalogue,
      people,
      admin: createPeopleAdmin({ database, audit, changes, countClientsOf: records.handover.count }),
      invitations: createInvitations({
        database,
        audit,
        mailer,
        policy: config.sign_in.sign_up,
        baseUrl: config.base_url,
      }),
      handover: records.handover,
      countClients: (visit) => records.counts(visit),
      sessions,
      signIn,
      ...(mailer && { mailEnds: mailer.ends }),
      audit,
      refusals,
      records,
      invoices: createInvoices({
        ...invoicing,
        unprintable: (invoice) => writing.missingIn({ format: 'pdf', invoice }),
      }),
      invoiceFiles,
      invoiceMails,
      letterFiles: createLetterFiles({
        access: records.access,
        firm: config.firm,
        notice: config.drafting?.notice,
        thread: writing,
      }),
      thread: writing,
      pages,
      ...appSettings(needs),
    }),
    (it) => it.close(),
  )
  const parts = opened.move()
  return Object.freeze({
    app,
    accounts,
    keys,
    people,
    identities,
    audit,
    sessions,
    records,
    database,
    leave: () => app.leave(),
    close: () => parts.disposeAsync(),
  })
}

function appSettings({ config, idleGrace, recoveryPause, metricsText, handedOver }: ServiceNeeds) {
  return {
    baseUrl: config.base_url,
    currency: config.currency,
    locale: config.firm.locale,
    timeZone: config.firm.time_zone,
    drafting: config.drafting,
    tryIt: config.try_it,
    firm: config.firm,
    retention: config.retention,
    requestBytes: config.limits.request_bytes,
    fileBytes: config.limits.file_bytes,
    trustedProxies: config.listen.trusted_proxies,
    ...(idleGrace !== undefined && { idleGrace }),
    ...(recoveryPause !== undefined && { recoveryPause }),
    ...(metricsText !== undefined && { metricsText }),
    ...(handedOver !== undefined && { handedOver }),
    ...(config.metrics?.token !== undefined && { metricsToken: config.metrics.token }),
  }
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

function defaultLimitsOf({ limits: { requests_per_minute, tokens_per_minute } }: Config) {
  return { requests_per_minute, tokens_per_minute }
}

function configuredPrices({ models }: Config): Map<string, Price> {
  return new Map(models.flatMap(({ id, price }) => (price ? [[id, priceOf(price)] as const] : [])))
}

function loadConfiguredProviders({ models }: Config) {
  return loadProviders(models.flatMap((model) => (model.engine === 'ai-sdk' ? [model.package] : [])))
}
