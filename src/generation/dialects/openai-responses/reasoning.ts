import type { ReasoningPart } from '../../../models/conversation.ts'
import { isFields, mustBe, type Fields } from '../body.ts'
import { checkedText, refuseOthers } from '../messages.ts'

/**
 * Reasoning as an item of a response: its text is the summary, its signature the encrypted content. The prefix marks
 * reasoning whose text the vendor withheld: such a vendor takes it back as nothing else.
 */
const withheld = 'redacted:'

export function reasoningItem(id: string, { text, signature, redacted }: Omit<ReasoningPart, 'kind'>): object {
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(signature !== undefined && { encrypted_content: redacted ? withheld + signature : signature }),
  }
}

/** Reads such an item, as clients send it back. One without any content has no part. Throws Problem `invalid_field`. */
export function readReasoning(fields: Fields, place: string): readonly ReasoningPart[] {
  refuseOthers(fields, ['id', 'summary', 'content', 'encrypted_content', 'created_by'], place)
  const summary = readParagraphs(fields['summary'], `${place}.summary`, 'summary_text')
  const content = readParagraphs(fields['content'] ?? [], `${place}.content`, 'reasoning_text')
  const text = content === '' ? summary : content
  const { encrypted_content: signature } = fields
  if (signature === undefined) return text === '' ? [] : [{ kind: 'reasoning', text }]
  if (typeof signature !== 'string') throw mustBe(`${place}.encrypted_content`, 'a text')
  checkedText(signature, `${place}.encrypted_content`)
  return signature.startsWith(withheld)
    ? [{ kind: 'reasoning', text, signature: signature.slice(withheld.length), redacted: true }]
    : [{ kind: 'reasoning', text, signature }]
}

function readParagraphs(list: unknown, field: string, type: string): string {
  if (!Array.isArray(list)) throw mustBe(field, `a list of parts of type ${type}`)
  return list.map((part: unknown, index) => readParagraph(part, `${field}[${index}]`, type)).join('\n\n')
}

function readParagraph(part: unknown, place: string, type: string): string {
  if (!isFields(part)) throw mustBe(place, `an object of type ${type}`)
  if (part['type'] !== type) throw mustBe(`${place}.type`, type)
  refuseOthers(part, ['type', 'text'], place)
  const { text } = part
  if (typeof text !== 'string') throw mustBe(`${place}.text`, 'a text')
  return checkedText(text, `${place}.text`)
}
