import type { Logger } from 'pino'
import type { Audit } from './access/audit/audit.ts'
import { auditExamples, registerAudit } from './access/routes.ts'
import type { Accounts } from './accounts/accounts.ts'
import type { Alerts } from './alerts/alerts.ts'
import { alertExamples, registerAlerts } from './alerts/routes.ts'
import type { Keys } from './accounts/keys/keys.ts'
import { accountExamples, registerAccounts, type DefaultLimits } from './accounts/routes.ts'
import type { Prices } from './billing/prices/prices.ts'
import type { Till } from './billing/till/till.ts'
import { dataExamples, registerClientData } from './client-data/routes.ts'
import type { LetterFiles } from './clients/letters/files.ts'
import type { Records } from './clients/records.ts'
import { recordExamples, registerClients } from './clients/routes.ts'
import type { WritingThread } from './documents/writing-thread.ts'
import { createDrafting } from './drafting/drafting.ts'
import { registerDrafting } from './drafting/routes.ts'
import { createTemplates } from './drafting/templates.ts'
import { createGeneration } from './generation/generation.ts'
import {
  formatOfUnknownUrl,
  hintForUnknownUrl,
  nameForSamples,
  registerGeneration,
  tryItUrl,
} from './generation/routes.ts'
import type { Catalogue } from './models/catalogue.ts'
import { registerInvoiceFiles } from './invoicing/files/routes.ts'
import type { InvoiceFiles } from './invoicing/files/files.ts'
import type { Invoices } from './invoicing/invoices.ts'
import { registerInvoiceMails } from './invoicing/mail/routes.ts'
import type { InvoiceMails } from './invoicing/mail/mails.ts'
import { invoiceExamples, registerInvoices } from './invoicing/routes.ts'
import { modelNamesOf, pricedModelExamples, registerModelConsole } from './models/routes.ts'
import type { Config } from './platform/config/config.ts'
import { registerAssets } from './platform/http/pages/assets.ts'
import type { MailEnds } from './mail/configured.ts'
import { overviewExamples, registerOverview } from './overview/routes.ts'
import type { Database } from './platform/database/database.ts'
import { createWriteProbe } from './platform/database/write-probe-store.ts'
import { registerDocs } from './platform/docs/docs.ts'
import { registerHealth } from './platform/http/health.ts'
import { createServer } from './platform/http/http.ts'
import type { Server } from './platform/http/server.ts'
import { createMetrics, registerMetrics } from './platform/metrics.ts'
import { registerOpenApi } from './platform/http/openapi.ts'
import type { Pages } from './platform/http/pages/pages.ts'
import type { PeopleAdmin } from './people/admin.ts'
import type { HandOver } from './people/handover-routes.ts'
import type { Invitations } from './people/invitations/invitations.ts'
import type { People } from './people/people.ts'
import { peopleExamples, registerPeople, type CountClients } from './people/routes.ts'
import { version } from './platform/version.ts'
import { recordMissing } from './access/permitted.ts'
import { prepareGuards, recognised } from './signin/guard.ts'
import { registerMe } from './signin/me/routes.ts'
import { registerPasswords } from './signin/methods/password/routes.ts'
import { registerProviderLogout } from './signin/session/provider-logout.ts'
import { registerSignIn, signInExamples } from './signin/routes.ts'
import type { Sessions } from './signin/session/sessions.ts'
import type { SignIn } from './signin/signin.ts'
import { createOwnUsage } from './usage/own/own.ts'
import type { ApiRefusals } from './usage/requests/refusals.ts'
import { registerUsage } from './usage/routes.ts'

/** The parts of the app. Their owner closes them after the app. */
export interface AppNeeds {
  readonly log: Logger
  readonly database: Database
  readonly accounts: Accounts
  readonly alerts: Alerts
  readonly keys: Keys
  readonly prices: Prices
  readonly defaultLimits: DefaultLimits
  readonly till: Till
  readonly catalogue: Catalogue
  readonly people: People
  readonly admin: PeopleAdmin
  readonly invitations: Invitations
  readonly handover: HandOver
  readonly countClients: CountClients
  readonly sessions: Sessions
  readonly signIn: SignIn
  /** The mails of this instance, counted by outcome; undefined if no mail is configured. */
  readonly mailEnds?: () => MailEnds
  readonly audit: Audit
  readonly refusals: ApiRefusals
  readonly records: Records
  readonly letterFiles: LetterFiles
  readonly invoices: Invoices
  readonly invoiceFiles: InvoiceFiles
  readonly invoiceMails: InvoiceMails
  /** What writes letters to files. */
  readonly thread: Pick<WritingThread, 'write'>
  /** The portal's pages. Without them the portal sends only JSON. */
  readonly pages?: Pages
  /** The address that people and callers use. */
  readonly baseUrl: string
  readonly currency: string
  /** The locale and the time zone of the firm. */
  readonly locale: string
  readonly timeZone: string
  /** These groups of the configuration. */
  readonly drafting: Config['drafting']
  readonly tryIt: Config['try_it']
  readonly firm: Config['firm']
  readonly retention: Config['retention']
  /** The largest request body without its images and documents, in bytes. */
  readonly requestBytes: number
  /** Maximum bytes of all images and documents in one request. */
  readonly fileBytes: number
  readonly trustedProxies?: readonly string[]
  /** The token that gives access to /metrics. Without it the route does not exist. */
  readonly metricsToken?: string
  /** The text of /metrics. Default: the metrics of this process. */
  readonly metricsText?: () => Promise<string>
  /** Resolves when the connections that another process has accepted for this one have arrived. */
  readonly handedOver?: () => Promise<void>
  /** ms that requests in flight get, and that idle connections stay open, when the app closes. */
  readonly drainTime?: number
  readonly idleGrace?: number
  /** ms between two looks for drafts whose instances have stopped. Default 5000. */
  readonly recoveryPause?: number
}

/** The whole service as one HTTP server that does not listen yet. Closing it lets requests in flight finish. */
export async function buildApp(needs: AppNeeds): Promise<Server> {
  const { log, database, till, catalogue, signIn, mailEnds, pages, baseUrl, currency, metricsToken } = needs
  const metrics = createMetrics()
  const generation = createGeneration({ catalogue, till, log, currency })
  const models = () => Object.fromEntries(catalogue.list().map(({ model }) => [model.id, model.health().ready]))
  const redirects = signIn.methods.filter(({ kind }) => kind === 'redirect')
  const providers = () => Object.fromEntries(redirects.map(({ id, state }) => [id, state]))

  const server = createServer({
    ...needs,
    onEnd: metrics.requestEnded,
    beforeNotFound: recognised(needs.sessions),
    errorFormatOf: formatOfUnknownUrl,
    hintForUrl: hintForUnknownUrl,
  })
  metrics.watch('tollgate_requests_in_flight', 'Requests in flight.', server.requestsInFlight)
  metrics.watchModels('tollgate_model_ready', 'Whether a model would serve a request now.', models)
  metrics.watch('tollgate_uncharged_tokens', 'Tokens beyond holds, credit and limits, not charged.', () =>
    till.unchargedTokens(),
  )
  if (mailEnds) {
    metrics.watch('tollgate_mails_sent', 'Mails that the mail server accepted.', () => mailEnds().sent)
    metrics.watch('tollgate_mails_given_up', 'Mails that could not be sent.', () => mailEnds().given_up)
  }
  await registerOpenApi(server, {
    baseUrl,
    examples: {
      ...overviewExamples,
      ...recordExamples,
      ...peopleExamples,
      ...signInExamples,
      ...auditExamples,
      ...accountExamples,
      ...alertExamples,
      ...invoiceExamples,
      ...pricedModelExamples,
      ...dataExamples,
    },
  })
  prepareGuards(server, { sessions: needs.sessions, refusals: signIn.refusals })
  recordMissing(server, needs.audit)
  registerGeneration(server, {
    ...needs,
    generation,
    isClient: needs.records.exists,
    own: createOwnUsage(needs),
    onCharged: metrics.tokensCharged,
    onRefused: needs.refusals.note,
  })
  registerHealth(server, { version, databaseWritable: createWriteProbe(database), models, providers })
  registerSignIn(server, needs)
  await registerProviderLogout(server, { ...needs, methods: signIn.methods, refusals: signIn.refusals })
  registerPasswords(server, needs)
  registerMe(server, needs)
  registerOverview(server, { ...needs, access: needs.records.access })
  registerPeople(server, needs)
  registerClients(server, needs)
  registerAccounts(server, { ...needs, modelNames: () => modelNamesOf(catalogue) })
  registerAlerts(server, needs)
  registerInvoices(server, needs)
  registerInvoiceFiles(server, needs)
  registerInvoiceMails(server, needs)
  registerModelConsole(server, needs)
  const { access } = needs.records
  const settings = needs.drafting
  const drafting = createDrafting({ ...needs, generation, settings, onCharged: metrics.tokensCharged })
  registerDrafting(server, { ...needs, drafting, templates: createTemplates({ access }) })
  registerClientData(server, { ...needs, access, drafting, notice: settings?.notice })
  registerAudit(server, { ...needs, access })
  registerUsage(server, { ...needs, access })
  registerMetrics(server, needs.metricsText ?? metrics.text, metricsToken)
  registerDocs(server, { baseUrl, sampleModel: () => nameForSamples(catalogue), tryItUrl })
  if (pages) registerAssets(server, pages.assets)
  await server.ready()
  return server
}
