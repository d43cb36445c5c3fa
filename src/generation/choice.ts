import type { Caller } from '../accounts/keys.ts'
import { formatPrice } from '../billing/money.ts'
import type { Catalogue, Offer } from '../models/catalogue.ts'
import { Problem } from '../platform/problems.ts'
import type { GenerateRequest, ListedModel } from './schema.ts'

/**
 * The model that a request names. Throws Problem `unknown_model`, `model_not_allowed`, and `invalid_field` for what the
 * model does not do.
 */
export function choose(catalogue: Catalogue, caller: Caller, body: GenerateRequest): Offer {
  if (body.stream === true) {
    throw new Problem('invalid_field', 'Streaming is not available yet: send stream as false, or leave it out.', {
      field: 'stream',
    })
  }
  const offer = catalogue.find(body.model)
  if (!mayUse(caller, offer)) {
    throw new Problem('model_not_allowed', 'This key may not use this model. GET /v1/models lists those it may.', {
      field: 'model',
    })
  }
  const most = offer.model.maxOutputTokens
  if (body.max_output_tokens <= most) return offer
  throw new Problem('invalid_field', `The field max_output_tokens must be at most ${most} for this model.`, {
    field: 'max_output_tokens',
  })
}

/** Nothing is ever cut off silently: what does not fit is Problem `context_length_exceeded`, with both numbers. */
export function checkContext({ model }: Offer, inputTokens: number, maxOutputTokens: number): void {
  if (inputTokens + maxOutputTokens <= model.contextTokens) return
  const numbers = `${inputTokens} tokens of input and ${maxOutputTokens} of max_output_tokens`
  throw new Problem(
    'context_length_exceeded',
    `The context of this model is ${model.contextTokens} tokens, and ${numbers} do not fit. Shorten the one or lower the other.`,
    { field: 'input' },
  )
}

/** The models that the caller may use. */
export function listModels(catalogue: Catalogue, caller: Caller, currency: string): ListedModel[] {
  return catalogue
    .list()
    .filter((offer) => mayUse(caller, offer))
    .map((offer) => listed(offer, currency))
}

function mayUse({ allowedModels }: Caller, { model }: Offer): boolean {
  return allowedModels === null || allowedModels.includes(model.id)
}

function listed({ model, price, aliases, createdAt }: Offer, currency: string): ListedModel {
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    display_name: model.id,
    created: createdAt,
    owned_by: 'tollgate',
    context_length: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    price: { input: formatPrice(price.input), output: formatPrice(price.output), currency },
    aliases: [...aliases],
  }
}
