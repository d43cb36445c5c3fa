import type { Logger } from 'pino'
import type { Audit } from './access/audit/audit.ts'
import { recordMissing } from './access/permitted.ts'
import { formatOfUnknownUrl, hintForUnknownUrl, tryItUrl } from './generation/routes.ts'
import type { Config } from './platform/config/config.ts'
import type { Feature } from './platform/feature.ts'
import { registerDocs } from './platform/docs/docs.ts'
import type { ExampleValues } from './platform/http/examples.ts'
import { registerHealth, type HealthNeeds } from './platform/http/health.ts'
import { createServer } from './platform/http/http.ts'
import { registerOpenApi } from './platform/http/openapi.ts'
import { registerAssets } from './platform/http/pages/assets.ts'
import type { Pages } from './platform/http/pages/pages.ts'
import type { Server } from './platform/http/server.ts'
import { registerMetrics, type Metrics } from './platform/metrics.ts'
import { prepareGuards, recognised } from './signin/guard.ts'
import type { Sessions } from './signin/session/sessions.ts'
import type { SignIn } from './signin/signin.ts'

/** The parts of the app. Their owner closes them after the app. */
export interface AppNeeds {
  readonly config: Pick<Config, 'base_url' | 'limits' | 'listen' | 'metrics'>
  readonly log: Logger
  readonly metrics: Metrics
  readonly audit: Audit
  readonly sessions: Sessions
  readonly signIn: Pick<SignIn, 'refusals'>
  /** In the order in which their routes are added. */
  readonly features: readonly Feature[]
  readonly health: HealthNeeds
  /** The portal's pages for browsers. */
  readonly pages: Pages
  /** The model that samples of the documentation use in place of `default`. */
  readonly sampleModel: () => string
  /** The text of /metrics. Default: the metrics of this process. */
  readonly metricsText?: (() => Promise<string>) | undefined
  /** Resolves when the connections that another process has accepted for this one have arrived. */
  readonly handedOver?: (() => Promise<void>) | undefined
  /** ms that idle connections stay open when the app closes. Default 1000. */
  readonly idleGrace?: number | undefined
}

/** The whole service as one HTTP server that does not listen yet. Closing it lets requests in flight finish. */
export async function buildApp(needs: AppNeeds): Promise<Server> {
  const { config, log, metrics, sessions, features, pages, idleGrace, handedOver } = needs
  const { base_url: baseUrl, limits, listen } = config
  const server = createServer({
    log,
    pages,
    baseUrl,
    requestBytes: limits.request_bytes,
    fileBytes: limits.file_bytes,
    trustedProxies: listen.trusted_proxies,
    ...(idleGrace !== undefined && { idleGrace }),
    ...(handedOver !== undefined && { handedOver }),
    onEnd: metrics.requestEnded,
    beforeNotFound: recognised(sessions),
    errorFormatOf: formatOfUnknownUrl,
    hintForUrl: hintForUnknownUrl,
  })
  metrics.watch('tollgate_requests_in_flight', 'Requests in flight.', server.requestsInFlight)
  await registerOpenApi(server, { baseUrl, examples: examplesOf(features) })
  prepareGuards(server, { sessions, refusals: needs.signIn.refusals })
  recordMissing(server, needs.audit)
  for (const { routes } of features) await routes(server)
  registerHealth(server, needs.health)
  registerMetrics(server, needs.metricsText ?? metrics.text, config.metrics?.token)
  registerDocs(server, { baseUrl, sampleModel: needs.sampleModel, tryItUrl })
  registerAssets(server, pages.assets)
  await server.ready()
  return server
}

const examplesOf = (features: readonly Feature[]): ExampleValues =>
  Object.fromEntries(features.flatMap(({ examples = {} }) => Object.entries(examples)))
