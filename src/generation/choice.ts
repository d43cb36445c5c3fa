import type { Caller } from '../accounts/keys.ts'
import { formatPrice } from '../billing/money.ts'
import type { Catalogue, Offer } from '../models/catalogue.ts'
import { Problem } from '../platform/problems.ts'
import type { TextRequest } from './request.ts'
import type { ListedModel } from './schema.ts'

/**
 * The model of this name, for this request. Throws Problem `unknown_model`, `model_not_allowed`, and `invalid_field` for
 * what the model does not do.
 */
export function choose(catalogue: Catalogue, caller: Caller, request: TextRequest, name = request.model): Offer {
  const offer = allowed(catalogue, caller, name)
  const most = offer.model.maxOutputTokens
  if ((request.maxOutputTokens ?? 1) <= most) return offer
  const field = request.names.maxOutputTokens
  throw new Problem('invalid_field', `The field ${field} must be at most ${most} for this model.`, { field })
}

/**
 * The most tokens that the reply may have. Nothing is ever cut off silently: what does not fit the context is Problem
 * `context_length_exceeded`, with both numbers. Where the input is only bounded, the upstream has the last word on that.
 */
export function mostOutput(
  { model }: Offer,
  { maxOutputTokens, names }: TextRequest,
  input: { readonly tokens: number; readonly exact: boolean },
): number {
  const room = input.exact ? model.contextTokens - input.tokens : Infinity
  const asked = maxOutputTokens ?? Math.max(1, Math.min(room, model.maxOutputTokens))
  if (asked <= room) return asked
  const numbers = `${input.tokens} tokens of input and ${asked} of ${names.maxOutputTokens}`
  throw new Problem(
    'context_length_exceeded',
    `The context of this model is ${model.contextTokens} tokens, and ${numbers} do not fit. Shorten the one or lower the other.`,
    { field: names.input },
  )
}

/** The models that the caller may use. */
export function listModels(catalogue: Catalogue, caller: Caller, currency: string): ListedModel[] {
  return catalogue
    .list()
    .filter((offer) => mayUse(caller, offer))
    .map((offer) => listed(offer, currency))
}

/** One of them, by id or alias. Throws Problem `unknown_model` and `model_not_allowed`. */
export function showModel(catalogue: Catalogue, caller: Caller, name: string, currency: string): ListedModel {
  return listed(allowed(catalogue, caller, name), currency)
}

function allowed(catalogue: Catalogue, caller: Caller, name: string): Offer {
  const offer = catalogue.find(name)
  if (mayUse(caller, offer)) return offer
  const reason = 'This key may not use this model. GET /v1/models lists those it may.'
  throw new Problem('model_not_allowed', reason, { field: 'model' })
}

/** An alias that the key names permits the model to which it points now. */
function mayUse({ allowedModels }: Caller, { model, aliases }: Offer): boolean {
  return allowedModels === null || [model.id, ...aliases].some((name) => allowedModels.includes(name))
}

function listed({ model, price, aliases, createdAt }: Offer, currency: string): ListedModel {
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    display_name: model.id,
    created: createdAt,
    created_at: new Date(createdAt * 1000).toISOString(),
    owned_by: 'tollgate',
    context_length: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    price: { input: formatPrice(price.input), output: formatPrice(price.output), currency },
    aliases: [...aliases],
  }
}
