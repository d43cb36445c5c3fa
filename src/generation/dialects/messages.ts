import { Type } from 'typebox'
import type { Message } from '../../models/model.ts'
import { isFields, mustBe, withoutUnserved, type Unserved } from './body.ts'

/** More than any conversation has. */
export const mostMessages = 4096

/** For the document: text in either of its two forms. */
export function textOrParts(...types: readonly string[]) {
  const part = Type.Object({ type: Type.Enum([...types]), text: Type.String() })
  return Type.Union([Type.String(), Type.Array(part)], { description: 'A text, or a list of text parts.' })
}

/** How an API writes its messages. */
export interface Writing {
  /** Its roles, and ours. */
  readonly roles: Readonly<Record<string, Message['role']>>
  /** The types of its parts that are text. */
  readonly parts: readonly string[]
  /** Fields of a message, and of a part, that say nothing at these values. */
  readonly idle: Unserved
  /** Fields of a message that clients send back from an earlier reply; they say nothing of what to do. */
  readonly echoed?: readonly string[]
}

/**
 * Reads a list of messages; a list that is missing or none is left to the schema. Throws Problem `invalid_field` for
 * what is no text: images, sound, files, calls of tools and their results.
 */
export function readMessages(list: unknown, field: string, writing: Writing): readonly Message[] {
  if (!Array.isArray(list)) return []
  const messages = list.map((each: unknown, index) => readMessage(each, `${field}[${index}]`, writing))
  const last = messages.at(-1)
  if (!last) throw mustBe(field, 'a list of at least one message')
  const place = `${field}[${messages.length - 1}]`
  if (last.role === 'assistant') throw mustBe(`${place}.role`, 'that of the user: the last message is what is answered')
  if (!/\S/.test(last.text)) throw mustBe(`${place}.content`, 'a text that is not blank')
  return messages
}

function readMessage(message: unknown, place: string, writing: Writing): Message {
  const kept = withoutUnserved(message, writing.idle, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, 'an object with role and content')
  const { role, content } = kept
  const known = typeof role === 'string' && Object.hasOwn(writing.roles, role) ? writing.roles[role] : undefined
  if (known === undefined) throw mustBe(`${place}.role`, `one of ${Object.keys(writing.roles).join(', ')}`)
  refuseOthers(kept, ['role', 'content', ...(writing.echoed ?? [])], place)
  return { role: known, text: textOf(content, `${place}.content`, writing) }
}

/** The text of a string or of a list of text parts; between two parts is a line break. */
export function textOf(content: unknown, field: string, writing: Pick<Writing, 'parts' | 'idle'>): string {
  if (typeof content === 'string') return checkedText(content, field)
  if (!Array.isArray(content)) throw mustBe(field, 'a text, or a list of text parts')
  return content.map((part: unknown, index) => partText(part, `${field}[${index}]`, writing)).join('\n')
}

function partText(part: unknown, place: string, { parts, idle }: Pick<Writing, 'parts' | 'idle'>): string {
  const kept = withoutUnserved(part, idle, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, `an object of type ${parts.join(' or ')}`)
  const { type, text } = kept
  if (typeof type !== 'string' || !parts.includes(type)) {
    throw mustBe(`${place}.type`, `${parts.join(' or ')}: only text is supported here`)
  }
  refuseOthers(kept, ['type', 'text'], place)
  if (typeof text !== 'string') throw mustBe(`${place}.text`, 'a text')
  return checkedText(text, `${place}.text`)
}

/** Names come from the caller: only a sensible one is repeated. */
function refuseOthers(fields: object, known: readonly string[], place: string): void {
  const other = Object.keys(fields).find((name) => !known.includes(name))
  if (other === undefined) return
  const name = /^\w{1,40}$/.test(other) ? other : '?'
  throw mustBe(`${place}.${name}`, 'left out: it is not supported here')
}

/** JSON can carry what neither a tokenizer nor a database takes. */
function checkedText(text: string, field: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text
  throw mustBe(field, 'valid Unicode without NUL characters')
}
