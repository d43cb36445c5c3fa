import type { ReasoningPart } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import { checkedText } from '../messages.ts'

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
