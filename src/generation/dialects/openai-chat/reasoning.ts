import type { Effort, Reasoning, ReasoningPart } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import { checkedText } from '../messages.ts'
import type { ChatRequest } from './schema.ts'

/** How much to think: `reasoning_effort`, or `reasoning` as OpenRouter writes it. Throws Problem `invalid_field`. */
export function readReasoningSettings({
  reasoning_effort: effort,
  reasoning,
}: Pick<ChatRequest, 'reasoning' | 'reasoning_effort'>): Reasoning | undefined {
  if (reasoning === undefined) return effort === undefined ? undefined : { effort }
  const { summary, max_tokens: budgetTokens } = reasoning
  const asked = effortIn(reasoning)
  if (effort !== undefined && (asked !== undefined || budgetTokens !== undefined)) {
    throw mustBe('reasoning_effort', 'omitted if reasoning says how much to think')
  }
  const chosen = effort ?? asked
  if (chosen === undefined && budgetTokens === undefined && summary === undefined) return undefined
  return {
    ...(chosen !== undefined && { effort: chosen }),
    ...(budgetTokens !== undefined && { budgetTokens }),
    ...(summary !== undefined && { summary }),
  }
}

function effortIn({ effort, max_tokens: budget, enabled }: NonNullable<ChatRequest['reasoning']>): Effort | undefined {
  if (effort !== undefined && budget !== undefined)
    throw mustBe('reasoning.max_tokens', 'omitted if there is an effort')
  if (effort === undefined && budget === undefined)
    return enabled === undefined ? undefined : enabled ? 'medium' : 'none'
  if (enabled === false && effort !== 'none') throw mustBe('reasoning.enabled', 'true or omitted if it is to think')
  return effort
}

/** Reasoning, and its place among the parts of its turn. */
export interface PlacedReasoning {
  readonly index: number
  readonly part: ReasoningPart
}

/**
 * The reasoning of a turn of the assistant. `reasoning_details` have the signatures. Otherwise vendors name the text
 * `reasoning_content` or `reasoning`. Throws Problem `invalid_field`.
 */
export function readReasoning(fields: Fields, place: string): readonly PlacedReasoning[] {
  const { reasoning_details: details = [] } = fields
  if (!Array.isArray(details)) throw mustBe(`${place}.reasoning_details`, 'a list')
  if (details.length > 0) {
    return details.map((each: unknown, index) => readDetail(each, `${place}.reasoning_details[${index}]`, index))
  }
  const name = fields['reasoning_content'] === undefined ? 'reasoning' : 'reasoning_content'
  const text = readOptionalText(fields[name], `${place}.${name}`)
  return text === '' ? [] : [{ index: 0, part: { kind: 'reasoning', text } }]
}

function readDetail(detail: unknown, place: string, position: number): PlacedReasoning {
  const kept = withoutNeutral(detail, {})
  if (!isFields(kept)) throw mustBe(place, 'an object with a type')
  const { type, index = position, signature, data } = kept
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) {
    throw mustBe(`${place}.index`, 'a whole number')
  }
  if (type === 'reasoning.encrypted') {
    const part: ReasoningPart = {
      kind: 'reasoning',
      text: '',
      signature: readOptionalText(data, `${place}.data`),
      redacted: true,
    }
    return { index, part }
  }
  if (type !== 'reasoning.text' && type !== 'reasoning.summary') {
    throw mustBe(`${place}.type`, 'reasoning.text, reasoning.summary or reasoning.encrypted')
  }
  const name = type === 'reasoning.text' ? 'text' : 'summary'
  const text = readOptionalText(kept[name], `${place}.${name}`)
  const signed = signature === undefined ? {} : { signature: readOptionalText(signature, `${place}.signature`) }
  return { index, part: { kind: 'reasoning', text, ...signed } }
}

function readOptionalText(text: unknown, field: string): string {
  if (text === undefined) return ''
  if (typeof text === 'string') return checkedText(text, field)
  throw mustBe(field, 'a text')
}
