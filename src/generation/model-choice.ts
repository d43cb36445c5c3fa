import type { Price } from '../billing/prices/prices.ts'
import { backgroundTier } from '../billing/prices/rules.ts'
import { isCapable, type Capability } from '../models/capabilities.ts'
import type { Catalogue, Offer } from '../models/catalogue.ts'
import type { VendorFields, WebSearch } from '../models/conversation.ts'
import { countedMessages } from '../models/counted.ts'
import type { TokenCount } from '../models/model.ts'
import { pricedFields } from '../models/vendor-fields.ts'
import { Problem } from '../platform/problems.ts'
import { hasUnreadFiles } from './dialects/files.ts'
import { findAllowed } from './models/model-list.ts'
import type { AskedLogprobs, Job, Need, TextRequest } from './request.ts'

/**
 * The model `name`, if the job may use it, it can do what the job needs and generate as many tokens. Throws Problem `unknown_model`,
 * `model_not_allowed` or `invalid_field`.
 */
export function chooseModel(
  catalogue: Catalogue,
  { request, allowedModels, background }: Pick<Job, 'request' | 'allowedModels' | 'background'>,
  name: string,
): Offer {
  const offer = findAllowed(catalogue, allowedModels, name)
  checkKind(request, offer)
  if (request.needs) checkCapabilities(offer, request.needs)
  if (request.prompt.prefill !== undefined && offer.model.continues !== true)
    throw notContinued(offer, request.prompt.prefill)
  if (request.prompt.search) checkSearch(offer, request.prompt.search)
  if (request.choices !== undefined && offer.model.takes?.has('n') !== true) throw notTaken(offer.model.id, 'n')
  if (request.logprobs) checkLogprobs(offer, request.logprobs)
  if (request.prompt.vendorFields) checkTaken(offer, request.prompt.vendorFields, background !== undefined)
  const [ofModel, scored] = [offer.model.maxOutputTokens, mostScored(request)]
  if ((request.maxOutputTokens ?? request.leastOutputTokens ?? 1) <= Math.min(ofModel, scored)) return offer
  const field = request.names.maxOutputTokens
  const reason = scored < ofModel ? `${scored} with so many log probabilities` : `${ofModel} for this model`
  throw new Problem('invalid_field', `The field ${field} must be at most ${reason}.`, { field })
}

/** The most log probabilities of a reply, which is kept in memory until it is charged. One takes about 65 bytes. */
const mostLogprobs = 1_000_000

/** The most tokens of a reply, or of each of its choices, if all have the log probabilities that were asked for. */
const mostScored = ({ logprobs, choices = 1 }: TextRequest): number =>
  logprobs ? Math.floor(mostLogprobs / (choices * (1 + logprobs.top))) : Infinity

/** In the words of an error. */
const features: Readonly<Record<Capability, string>> = {
  tools: 'tools',
  forced_tools: 'tools',
  json: 'JSON formats',
  images: 'images',
  documents: 'documents',
  reasoning: 'reasoning',
  verbosity: 'verbosity',
}

function checkCapabilities({ model: { id, capabilities } }: Offer, needs: readonly Need[]): void {
  const missing = needs.find(({ capability }) => !isCapable(capabilities, capability))
  if (!missing) return
  const { capability, field } = missing
  if (capability === 'tools' && capabilities.has('forced_tools')) throw onlyForced(id, field)
  throw new Problem(
    'invalid_field',
    `The model ${id} does not support ${features[capability]}, which the field ${field} needs.`,
    {
      field,
    },
  )
}

const onlyForced = (id: string, field: string): Problem =>
  new Problem(
    'invalid_field',
    `The model ${id} calls a tool only if tool_choice forces it to. Force a tool, or omit the field ${field}.`,
    { field },
  )

/** A field that does not reach the model must not be ignored. */
function checkTaken({ model: { id, takes }, price }: Offer, fields: VendorFields, isBackground: boolean): void {
  const field = Object.keys(fields).find((name) => takes?.has(name) !== true)
  if (field === undefined) return checkPriced(id, price, fields, isBackground)
  throw notTaken(id, field)
}

function notTaken(id: string, field: string): Problem {
  const reason = `The model ${id} does not take the field ${field}. Omit it, or ask the operator to let it through.`
  return new Problem('invalid_field', reason, { field })
}

function checkLogprobs({ model: { id, takes } }: Offer, { top, field }: AskedLogprobs): void {
  if (takes?.has('logprobs') !== true) {
    const reason = `The model ${id} returns no log probabilities, which the field ${field} asks for. Omit it, or ask the operator to let it through.`
    throw new Problem('invalid_field', reason, { field })
  }
  if (top > 0 && !takes.has('top_logprobs')) throw notTaken(id, 'top_logprobs')
}

/** Whether the vendor of a model may search the web for it: its price must have that. */
export const canSearch = ({ model, price }: Offer): boolean =>
  model.searches === true && price.rules?.tools?.web_search !== undefined

function checkSearch(offer: Offer, { field, optional }: WebSearch): void {
  if (optional || canSearch(offer)) return
  const reason = `The model ${offer.model.id} has no web_search with a price, which the field ${field} needs. Omit it.`
  throw new Problem('invalid_field', reason, { field })
}

/** Throws Problem `invalid_field` for a service tier or a region that the price does not have, or not for requests that someone waits for. */
function checkPriced(id: string, { rules }: Price, fields: VendorFields, isBackground: boolean): void {
  const tiers = Object.keys(rules?.serviceTiers ?? {}).filter((tier) => isBackground || tier !== backgroundTier)
  const known = { service_tier: tiers, inference_geo: Object.keys(rules?.regions ?? {}) }
  for (const field of pricedFields) {
    const [value, names] = [fields[field], known[field] ?? []]
    if (value === undefined || (typeof value === 'string' && names.includes(value))) continue
    const advice = names.length === 0 ? 'Omit it.' : `Omit it, or send one of ${names.join(', ')}.`
    throw new Problem('invalid_field', `The price of the model ${id} has no such ${field}. ${advice}`, { field })
  }
}

const notContinued = ({ model: { id } }: Offer, field: string): Problem =>
  new Problem(
    'invalid_field',
    `The model ${id} does not continue a message of the assistant: the field ${field} must be user, or tool if it is a result.`,
    { field },
  )

/** A model makes either text or embeddings. */
function checkKind({ embedding }: TextRequest, { model }: Offer): void {
  if ((embedding !== undefined) === (model.embed !== undefined)) return
  const reason = model.embed
    ? 'This is an embedding model: call it at POST /v1/embeddings.'
    : 'This is a text model. Use an embedding model.'
  throw new Problem('invalid_field', reason, { field: 'model' })
}

/** The part of the context that is left for a reply, however large an estimate of its prompt may be: bytes are several times the tokens. */
const leastShare = 1 / 4

/**
 * The most tokens that the reply may have. Throws Problem `context_length_exceeded` if prompt and reply do not fit the
 * context, rather than truncate either. Where the count is not exact, the upstream decides. Texts to embed fit the context
 * one by one, which their model checks.
 */
export function mostOutput({ model }: Offer, request: TextRequest, input: TokenCount): number {
  const { maxOutputTokens, leastOutputTokens = 1, embedding, names } = request
  if (embedding) return 0
  const { contextTokens } = model
  const room = input.exact ? contextTokens - input.tokens : Infinity
  const left = input.exact ? room : Math.max(contextTokens - input.most, Math.floor(contextTokens * leastShare))
  const wanted =
    maxOutputTokens ?? Math.max(leastOutputTokens, Math.min(left, model.maxOutputTokens, mostScored(request)))
  if (wanted <= room) return wanted
  const sizes = `${input.tokens} input tokens and ${wanted} of ${names.maxOutputTokens}`
  throw new Problem(
    'context_length_exceeded',
    `The context of this model is ${model.contextTokens} tokens; ${sizes} do not fit. Shorten the input or lower ${names.maxOutputTokens}.`,
    { field: names.input },
  )
}

/** Whether fetching the images of a job, and counting its pages and tokens, is worth a look at its account first. */
export function isCostlyToCount({ request }: Job, { model }: Offer): boolean {
  if (hasUnreadFiles(request.prompt)) return true
  if (model.cheapPrompt === Infinity) return false
  const characters = countedMessages(request.prompt).reduce((sum, { text }) => sum + text.length, 0)
  return characters > model.cheapPrompt
}

/** The input tokens to hold. */
export function mostInput(input: TokenCount): number {
  return input.exact ? input.tokens : input.most
}
