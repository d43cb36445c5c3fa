import type { CacheMark, Message, Part, PartsMessage } from '../../models/conversation.ts'
import { isFields, mustBe, shownName } from './body.ts'

/** The most messages of a conversation. */
export const mostMessages = 4096

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

/** The parts of a message. An empty text has none. */
export function partsOfMessage({ text, parts }: Message): readonly Part[] {
  if (parts) return parts
  return text === '' ? [] : [{ kind: 'text', text }]
}

/**
 * Joins the messages that are one turn: the results of calls with the user's next message, and the calls of the assistant with what
 * it says or calls next. OpenAI refuses a message between a call and its result.
 */
export function joinTurns(messages: readonly Message[]): readonly Message[] {
  const turns: Message[] = []
  /** The last turn, if the next message of its role belongs to it. */
  let open: { readonly role: Message['role']; readonly parts: Part[] } | undefined
  for (const message of messages) {
    if (open?.role === message.role) for (const part of partsOfMessage(message)) open.parts.push(part)
    else {
      open = mayGoOn(message) ? { role: message.role, parts: [...message.parts] } : undefined
      turns.push(open ?? message)
    }
    if (open?.role === 'user' && open.parts.at(-1)?.kind !== 'result') open = undefined
  }
  return turns
}

const mayGoOn = (message: Message): message is PartsMessage =>
  message.parts?.at(-1)?.kind === 'result' || (message.parts?.some(({ kind }) => kind === 'call') ?? false)

/**
 * Checks the message to which a model is to reply: the user's, or the assistant's with a text that the reply continues. `place` is where
 * the request has it, and `user` who else it can be from. Throws Problem `invalid_field`.
 */
export function checkLastMessage(last: Message, place: string, user: string): void {
  const parts = partsOfMessage(last)
  const isText = parts.every(({ kind }) => kind === 'text')
  if (last.role === 'system' || (last.role === 'assistant' && !isText)) {
    throw mustBe(`${place}.role`, `${user}: the last message is the one to reply to`)
  }
  if (parts.every((part) => part.kind === 'text' && !/\S/.test(part.text))) {
    throw mustBe(`${place}.content`, 'a text that is not blank')
  }
}

/** The field of the role of a last message that is the assistant's. `length` is the number of messages that the request has. */
export function prefillIn(messages: readonly Message[], length: number): { readonly prefill?: string } {
  return messages.at(-1)?.role === 'assistant' ? { prefill: `messages[${length - 1}].role` } : {}
}

/** Reads `cache_control`, as Anthropic and those that follow it write it; undefined if there is none. */
export function readCacheMark(value: unknown, field: string): CacheMark | undefined {
  if (value === undefined || value === null) return undefined
  if (!isFields(value) || value['type'] !== 'ephemeral') throw mustBe(field, 'an object of type ephemeral')
  const { ttl } = value
  if (ttl === undefined || ttl === null) return {}
  if (ttl === '5m' || ttl === '1h') return { ttl }
  throw mustBe(`${field}.ttl`, '5m or 1h')
}
