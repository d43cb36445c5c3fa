import type { Logger } from 'pino'
import { priceOf } from '../billing/prices/price-rule.ts'
import type { Price } from '../billing/prices/prices.ts'
import { closest } from '../platform/text/closest.ts'
import { isForEmbeddings, kindOf, type ModelConfig, type ModelKind } from '../platform/config/config.ts'
import { Problem } from '../platform/problems.ts'
import type { Model } from './model.ts'

/** A model that can be called: it has a price. */
export interface Offer {
  readonly model: Model
  /** In force now, in 10⁻¹² of the currency unit per token. */
  readonly price: Price
  readonly aliases: readonly string[]
  /** Seconds since 1970: when this instance began to offer it. */
  readonly createdAt: number
  /**
   * The id of the model that takes over when this one fails before its first token. That model may have a fallback too; a
   * request tries each model of the chain once.
   */
  readonly fallback?: string | undefined
}

/** A model of the configuration, whether or not it can be called. */
export interface ConfiguredModel {
  readonly model: Pick<Model, 'id' | 'contextTokens' | 'maxOutputTokens' | 'capabilities' | 'health'>
  readonly engine: ModelConfig['engine']
  readonly kind: ModelKind
  readonly aliases: readonly string[]
  readonly fallback?: string | undefined
  /** The price in the configuration, which need not be the one in force. */
  readonly price?: Price | undefined
}

/** The models of the configuration, by id and by alias. */
export interface Catalogue {
  /** Throws Problem `unknown_model` if the name is not configured or the model has no price. */
  find(name: string): Offer
  /** The models with a price, in the order of the configuration. */
  list(): readonly Offer[]
  /** All models, in the order of the configuration. */
  configured(): readonly ConfiguredModel[]
  close(): Promise<void>
}

export interface CatalogueNeeds {
  readonly models: readonly ModelConfig[]
  /** Alias → id. */
  readonly aliases: Readonly<Record<string, string>>
  readonly prices: { of(model: string): Price | undefined }
  readonly build: (entry: ModelConfig) => Model | Promise<Model>
  readonly log: Logger
}

/** Builds every model. A model that cannot be built throws, and those built before it are closed. */
export async function createCatalogue({
  models: entries,
  aliases,
  prices,
  build,
  log,
}: CatalogueNeeds): Promise<Catalogue> {
  const createdAt = Math.floor(Date.now() / 1000)
  const models = new Map<string, Model>()
  const close = async (): Promise<void> => {
    await Promise.all([...models.values()].map((model) => model.close()))
  }
  try {
    for (const entry of entries) models.set(entry.id, await build(entry))
  } catch (error) {
    await close()
    throw error
  }
  for (const id of models.keys()) if (!prices.of(id)) log.warn({ model: id }, 'a model without a price is not callable')

  const aliasesOf = Map.groupBy(Object.keys(aliases), (alias) => aliases[alias])
  const fallbacks = new Map(entries.map((entry) => [entry.id, fallbackOf(entry)]))
  const offer = (model: Model): Offer | undefined => {
    const price = prices.of(model.id)
    // A price from when the model made embeddings has no output: text would be free.
    if (!price || (price.output === 0n && !model.embed)) return undefined
    return { model, price, aliases: aliasesOf.get(model.id) ?? [], createdAt, fallback: fallbacks.get(model.id) }
  }

  return Object.freeze({
    find(name: string) {
      const model = models.get(name) ?? models.get(aliases[name] ?? '')
      const found = model && offer(model)
      if (found) return found
      const near = closest(name, [...models.keys(), ...Object.keys(aliases)])
      const hint = near === undefined || near === name ? '' : ` Did you mean ${near}?`
      const reason = model ? 'This model has no price, so it cannot be called.' : 'There is no model with this name.'
      throw new Problem('unknown_model', `${reason}${hint} GET /v1/models lists the models.`, { field: 'model' })
    },
    list: () => [...models.values()].flatMap((model) => offer(model) ?? []),
    configured: () =>
      entries.flatMap((entry) => {
        const { id, engine, price } = entry
        const model = models.get(id)
        const fallback = fallbackOf(entry)
        return model
          ? [
              {
                model,
                engine,
                kind: kindOf(entry),
                aliases: aliasesOf.get(id) ?? [],
                fallback,
                price: price && priceOf(price),
              },
            ]
          : []
      }),
    close,
  })
}

const fallbackOf = (entry: ModelConfig) => (isForEmbeddings(entry) ? undefined : entry.fallback)
