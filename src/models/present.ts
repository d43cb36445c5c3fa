import { writtenPrice } from '../billing/prices/money.ts'
import type { PriceEntry } from '../billing/prices/prices.ts'
import { listCapabilities } from './capabilities.ts'
import type { ConfiguredModel } from './catalogue.ts'
import type { ConfiguredModelJson, ListedPrice } from './schema.ts'

/** A key that works, and the names of models to which it is limited; null: every model. */
export interface KeyUse {
  readonly id: string
  readonly publicId: string
  readonly name: string
  readonly account: { readonly id: string; readonly name: string }
  readonly allowedModels: readonly string[] | null
}

export function presentConfigured(
  { model, engine, kind, aliases, fallback, price }: ConfiguredModel,
  history: readonly PriceEntry[],
  uses: readonly KeyUse[],
): ConfiguredModelJson {
  const own = history.filter((entry) => entry.model === model.id)
  const inForce = own.find(({ state }) => state === 'in force')
  const names = [model.id, ...aliases]
  const { ready, reason } = model.health()
  return {
    id: model.id,
    engine,
    kind,
    aliases: [...aliases],
    context: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    capabilities: listCapabilities(model.capabilities),
    fallback: fallback ?? null,
    ready,
    reason: reason ?? null,
    price: inForce ? writtenPrice(inForce) : null,
    configured_price: price ? writtenPrice(price) : null,
    prices: own.map(presentEntry),
    keys: uses
      .filter(({ allowedModels }) => allowedModels?.some((name) => names.includes(name)))
      .map(({ id, publicId, name, account }) => ({ id, public_id: publicId, name, account })),
  }
}

function presentEntry(entry: PriceEntry): ListedPrice {
  const { validFrom, source, state } = entry
  return { ...writtenPrice(entry), valid_from: validFrom.toISOString(), source, state }
}
