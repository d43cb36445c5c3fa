import { Type } from 'typebox'
import { textOfMessage, type Message } from '../../models/conversation.ts'
import { isFields, mustBe, shownName, withoutNeutral, type Unsupported } from './body.ts'

/** The most messages of a conversation. */
export const mostMessages = 4096

/** The schema of a text in either of its two forms. */
export function textOrParts(...types: readonly string[]) {
  const part = Type.Object({ type: Type.Enum([...types]), text: Type.String() })
  return Type.Union([Type.String(), Type.Array(part)], { description: 'A text, or a list of text parts.' })
}

/** How an API writes its messages. */
export interface MessageFormat {
  /** Its roles, and ours. */
  readonly roles: Readonly<Record<string, Message['role']>>
  /** The types of its parts that are text. */
  readonly parts: readonly string[]
  /** Fields of a message that are accepted at neutral values. */
  readonly message: Unsupported
  /** Fields of a part that are accepted at neutral values. */
  readonly part: Unsupported
  /** Fields of an assistant's message that clients send back from an earlier reply. They ask for nothing. */
  readonly echoed: readonly string[]
}

/**
 * Reads a list of messages. The last one must be the user's. Leaves a value that is not a list to the schema. Throws Problem
 * `invalid_field` for anything but text: images, sound, files, tool calls and their results.
 */
export function readMessages(list: unknown, field: string, format: MessageFormat): readonly Message[] {
  if (!Array.isArray(list)) return []
  const messages = list.map((each: unknown, index) => readMessage(each, `${field}[${index}]`, format))
  const last = messages.at(-1)
  if (!last) throw mustBe(field, 'a list of at least one message')
  const place = `${field}[${messages.length - 1}]`
  if (last.role !== 'user') throw mustBe(`${place}.role`, 'user: the last message is the one to reply to')
  if (!/\S/.test(textOfMessage(last))) throw mustBe(`${place}.content`, 'a text that is not blank')
  return messages
}

function readMessage(message: unknown, place: string, format: MessageFormat): Message {
  const kept = withoutNeutral(message, format.message, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, 'an object with role and content')
  const { role, content } = kept
  const known = typeof role === 'string' && Object.hasOwn(format.roles, role) ? format.roles[role] : undefined
  if (known === undefined) throw mustBe(`${place}.role`, `one of ${Object.keys(format.roles).join(', ')}`)
  refuseOthers(kept, ['role', 'content', ...(known === 'assistant' ? format.echoed : [])], place)
  return { role: known, text: contentText(content, `${place}.content`, format) }
}

/** The text of a string, or of a list of text parts, joined by line breaks. */
function contentText(content: unknown, field: string, format: Pick<MessageFormat, 'parts' | 'part'>): string {
  if (typeof content === 'string') return checkedText(content, field)
  if (!Array.isArray(content)) throw mustBe(field, 'a text, or a list of text parts')
  return content.map((part: unknown, index) => partText(part, `${field}[${index}]`, format)).join('\n')
}

function partText(
  part: unknown,
  place: string,
  { parts, part: neutral }: Pick<MessageFormat, 'parts' | 'part'>,
): string {
  const kept = withoutNeutral(part, neutral, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, `an object of type ${parts.join(' or ')}`)
  const { type, text } = kept
  if (typeof type !== 'string' || !parts.includes(type)) {
    throw mustBe(`${place}.type`, `${parts.join(' or ')}: only text is supported here`)
  }
  refuseOthers(kept, ['type', 'text'], place)
  if (typeof text !== 'string') throw mustBe(`${place}.text`, 'a text')
  return checkedText(text, `${place}.text`)
}

/** Refuses fields that are not known. */
export function refuseOthers(fields: object, known: readonly string[], place: string): void {
  const other = Object.keys(fields).find((name) => !known.includes(name))
  if (other !== undefined) throw mustBe(`${place}.${shownName(other)}`, 'omitted: it is not supported here')
}

/** JSON can carry lone surrogates and NUL, which neither a tokenizer nor a database accepts. */
export function checkedText(text: string, field: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text
  throw mustBe(field, 'valid Unicode without NUL characters')
}
