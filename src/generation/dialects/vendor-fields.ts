import { Type } from 'typebox'
import type { VendorFields } from '../../models/conversation.ts'
import type { Fields } from './body.ts'
import { isFields, mustBe } from './body.ts'
import type { Permissions } from './dialect.ts'
import { isWithinLevels } from './tools.ts'

/** Fields that reach only models whose upstream takes them. They have the same names in all dialects. */

const ifTaken = 'Only for models whose upstream takes it.'

const topK = Type.Optional(
  Type.Integer({ minimum: -1, description: `Choose among this many of the most likely tokens. ${ifTaken}` }),
)

const penalty = (what: string) =>
  Type.Optional(Type.Number({ minimum: -2, maximum: 2, description: `${what} 0 has no effect. ${ifTaken}` }))
const anyObject = (description: string) =>
  Type.Optional(Type.Object({}, { additionalProperties: true, description: `${description} ${ifTaken}` }))

const ifPriced = 'Only for models whose upstream takes it and whose price has it by this name.'

const everywhere = {
  top_k: topK,
  provider: anyObject('Which providers OpenRouter may choose.'),
}

/** As Anthropic's API has them. */
export const messagesVendorFields = {
  ...everywhere,
  inference_geo: Type.Optional(
    Type.String({ maxLength: 64, description: `The region. \`global\` has no effect. ${ifPriced}` }),
  ),
}

/** As both of OpenAI's APIs have them. */
export const responsesVendorFields = {
  ...everywhere,
  service_tier: Type.Optional(
    Type.String({
      maxLength: 64,
      description: `The service tier. \`auto\` and \`default\` have no effect. ${ifPriced}`,
    }),
  ),
  frequency_penalty: penalty('Makes tokens less likely by how often they have occurred.'),
  presence_penalty: penalty('Makes tokens less likely that have occurred.'),
}

export const chatVendorFields = {
  ...responsesVendorFields,
  logit_bias: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: Type.Number({ minimum: -100, maximum: 100 }),
        propertyNames: Type.String({ maxLength: 10 }),
        maxProperties: 1024,
        description: `Makes tokens, by their ids, more or less likely. An empty object has no effect. ${ifTaken}`,
      },
    ),
  ),
  min_p: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `Leave out tokens whose probability is below this share of that of the most likely one. ${ifTaken}`,
    }),
  ),
  repetition_penalty: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 2,
      description: `Makes tokens that have occurred less likely, above 1. ${ifTaken}`,
    }),
  ),
  top_a: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `Leave out tokens whose probability is below this share of the square of that of the most likely one. ${ifTaken}`,
    }),
  ),
  chat_template_kwargs: anyObject("Variables of the model's chat template. They count as a part of the prompt."),
}

/** Fields with these values are the same as none. */
const withoutEffect: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logit_bias: (value) => isFields(value) && Object.keys(value).length === 0,
  service_tier: (value) => value === 'auto' || value === 'default',
  inference_geo: (value) => value === 'global',
}

const most = { bytes: 64 * 1024, levels: 32 }

/**
 * The fields of a vendor in a body whose types were checked, by these names, and those that the operator lets through. Throws Problem
 * `invalid_field` for one that is too large.
 */
export function vendorFieldsOf(
  body: Fields,
  names: readonly string[],
  permitted: Fields,
): { readonly vendorFields?: VendorFields } {
  // Most requests have none, so nothing is copied for them.
  if (permitted === none && names.every((name) => body[name] === undefined)) return {}
  const named = names.filter((name) => body[name] !== undefined && withoutEffect[name]?.(body[name]) !== true)
  const fields = { ...Object.fromEntries(named.map((name) => [name, body[name]])), ...permitted }
  for (const [name, value] of Object.entries(fields)) checkSize(name, value)
  return Object.keys(fields).length === 0 ? {} : { vendorFields: fields }
}

const none: Fields = {}

function checkSize(name: string, value: unknown): void {
  // Before it is serialized: that recurses without a bound.
  if (!isWithinLevels(value, most.levels)) throw mustBe(name, `a value of at most ${most.levels} levels`)
  if (typeof value !== 'object' && typeof value !== 'string') return
  if (Buffer.byteLength(JSON.stringify(value)) > most.bytes) {
    throw mustBe(name, `a value of at most ${most.bytes / 1024} KiB`)
  }
}

/** Takes the fields out of a body that the operator lets through and that no schema knows. Null is the same as none. */
export function takePermitted(
  raw: unknown,
  { fields }: Permissions,
  known: object,
): { readonly rest: unknown; readonly permitted: Fields } {
  if (fields.size === 0 || !isFields(raw)) return { rest: raw, permitted: none }
  const isPermitted = (name: string): boolean => fields.has(name) && !Object.hasOwn(known, name) && raw[name] !== null
  const names = Object.keys(raw)
  return {
    rest: Object.fromEntries(names.filter((name) => !isPermitted(name)).map((name) => [name, raw[name]])),
    permitted: Object.fromEntries(names.filter(isPermitted).map((name) => [name, raw[name]])),
  }
}
