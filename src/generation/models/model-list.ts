import { writtenPrice } from '../../billing/prices/money.ts'
import { listCapabilities } from '../../models/capabilities.ts'
import type { Catalogue, Offer } from '../../models/catalogue.ts'
import { Problem } from '../../platform/problems.ts'
import type { ListedModel } from '../schema.ts'

/** Ids and aliases of models; null: every model. */
type AllowedModels = readonly string[] | null

/** The model with this id or alias. Throws Problem `unknown_model` or `model_not_allowed`. */
export function findAllowed(catalogue: Catalogue, allowed: AllowedModels, name: string): Offer {
  const offer = catalogue.find(name)
  if (isAllowed(allowed, offer)) return offer
  const reason = 'This key may not use this model. GET /v1/models lists the models that it may use.'
  throw new Problem('model_not_allowed', reason, { field: 'model' })
}

/** The models that the caller may use. */
export function listModels(catalogue: Catalogue, allowed: AllowedModels, currency: string): ListedModel[] {
  return catalogue
    .list()
    .filter((offer) => isAllowed(allowed, offer))
    .map((offer) => presentModel(offer, currency))
}

/** The text model that samples can name: `default` if it exists, else the first one. */
export function nameForSamples(catalogue: Pick<Catalogue, 'list'>): string {
  const offers = catalogue.list().filter(({ model }) => !model.embed)
  const exists = offers.some(({ model, aliases }) => model.id === 'default' || aliases.includes('default'))
  return exists ? 'default' : (offers[0]?.model.id ?? 'default')
}

export function presentModel({ model, price, aliases, createdAt }: Offer, currency: string): ListedModel {
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    display_name: model.id,
    created: createdAt,
    created_at: new Date(createdAt * 1000).toISOString(),
    owned_by: 'tollgate',
    kind: model.embed ? 'embeddings' : 'text',
    context_length: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    capabilities: listCapabilities(model.capabilities),
    price: { ...writtenPrice(price), currency },
    aliases: [...aliases],
  }
}

/** An alias allows the model that it names now. */
function isAllowed(allowed: AllowedModels, { model, aliases }: Offer): boolean {
  return allowed === null || allowed.includes(model.id) || aliases.some((alias) => allowed.includes(alias))
}
