import type { Logger } from 'pino'
import type { Catalogue } from '../models/catalogue.ts'
import type { Config } from '../platform/config/config.ts'
import type { Feature } from '../platform/feature.ts'
import type { Metrics } from '../platform/metrics.ts'
import { writtenFields } from '../models/vendor-fields.ts'
import { createFinder } from '../platform/network/networks.ts'
import type { ApiRefusals } from '../usage/requests/refusals.ts'
import { createImageFetcher } from './files/image-fetcher.ts'
import { createGeneration, type Generation } from './generation.ts'
import { createQueuedCalls, type QueuedCalls } from './calls/queued-calls.ts'
import { canSearch } from './model-choice.ts'
import { registerGeneration, type GenerationRoutesNeeds } from './routes.ts'

type RouteNeeds = Omit<
  GenerationRoutesNeeds,
  'generation' | 'tryIt' | 'requestBytes' | 'fileBytes' | 'permitted' | 'images' | 'onCharged' | 'onRefused'
>

interface OpenNeeds extends RouteNeeds {
  readonly config: Pick<Config, 'alerts' | 'limits' | 'models' | 'try_it'>
  readonly catalogue: Catalogue
  readonly refusals: Pick<ApiRefusals, 'note'>
  readonly metrics: Pick<Metrics, 'tokensCharged'>
  readonly currency: string
  readonly log: Logger
}

export interface GenerationFeature extends Feature {
  readonly generation: Generation
  readonly queuedCalls: QueuedCalls
}

/** Opens the generation of text and /v1. Its server closes it. */
export function openGeneration(needs: OpenNeeds): GenerationFeature {
  const { config, refusals, metrics } = needs
  const { request_bytes: requestBytes, file_bytes: fileBytes, fetch_hosts: hosts } = config.limits
  const find = createFinder(config.alerts.allowed_networks)
  const images = createImageFetcher({ hosts: new Set(hosts), find, fileBytes })
  const generation = createGeneration({ ...needs, images })
  const routeNeeds = {
    ...needs,
    generation,
    tryIt: config.try_it,
    requestBytes,
    fileBytes,
    images,
    permitted: {
      fields: new Set(
        config.models
          .flatMap((model) => ('pass' in model ? model.pass : []))
          .filter((field) => !writtenFields.has(field)),
      ),
      get searches() {
        return needs.catalogue.list().some(canSearch)
      },
    },
    onCharged: metrics.tokensCharged,
    onRefused: refusals.note,
  }
  const queuedCalls = createQueuedCalls(routeNeeds)
  return { generation, queuedCalls, routes: (server) => registerGeneration(server, routeNeeds) }
}
