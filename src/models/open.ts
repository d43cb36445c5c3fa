import type { Logger } from 'pino'
import type { Prices } from '../billing/prices/prices.ts'
import type { Config, ModelConfig } from '../platform/config/config.ts'
import type { Feature } from '../platform/feature.ts'
import type { Metrics } from '../platform/metrics.ts'
import { createCatalogue, type Catalogue } from './catalogue.ts'
import { buildModel, type ModelNeeds } from './configured.ts'
import { createDetection } from './reported/detection.ts'
import { pricedModelExamples, registerModelConsole, type ModelRouteNeeds } from './routes.ts'
import { createCountingThread } from './tokenizer/tokenizer.ts'
import { loadProviders } from './upstream/ai-sdk/provider.ts'

interface ModelsNeeds extends Pick<ModelNeeds, 'providers'> {
  readonly config: Pick<Config, 'models' | 'aliases'>
  readonly prices: Pick<Prices, 'of'>
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'watchModels'>
}

export interface Models {
  readonly catalogue: Catalogue
  /** Whether each model would serve a request now. */
  ready(this: void): Readonly<Record<string, boolean>>
  close(this: void): Promise<void>
}

/** The AI SDK packages of the configuration. Throws OperatorError for one that cannot be loaded. */
export function loadPackages({ models }: Pick<Config, 'models'>): Promise<ModelNeeds['providers']> {
  return loadProviders(models.flatMap((model) => (model.engine === 'ai-sdk' ? [model.package] : [])))
}

/** Opens the configured models. Upstreams that do not respond are asked for what they report later. */
export async function openModels({ config, prices, providers, log, metrics }: ModelsNeeds): Promise<Models> {
  await using opened = new AsyncDisposableStack()
  const thread = opened.adopt(createCountingThread(), (it) => it.close())
  const detection = opened.adopt(createDetection({ log }), (it) => it.close())
  const build = (entry: ModelConfig) => buildModel(entry, { providers, thread, detection, log })
  const { models, aliases } = config
  const catalogue = opened.adopt(await createCatalogue({ models, aliases, prices, build, log }), (it) => it.close())
  detection.start()
  const ready = () => Object.fromEntries(catalogue.list().map(({ model }) => [model.id, model.health().ready]))
  metrics.watchModels('tollgate_model_ready', 'Whether a model would serve a request now.', ready)
  const parts = opened.move()
  return Object.freeze({ catalogue, ready, close: () => parts.disposeAsync() })
}

/** /models, for partners. */
export function openModelConsole(needs: ModelRouteNeeds): Feature {
  return { routes: (server) => registerModelConsole(server, needs), examples: pricedModelExamples }
}
