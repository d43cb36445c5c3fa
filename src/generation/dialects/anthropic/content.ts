import type {
  CacheMark,
  CallPart,
  FilePart,
  Message,
  Part,
  ResultPart,
  TextPart,
  ReasoningPart,
} from '../../../models/conversation.ts'
import { readDocumentBlock, readImageBlock } from './files.ts'
import { isFields, mustBe, shownName, withoutNeutral, type Fields } from '../body.ts'
import { messagesFields, neutralIn } from '../field-rules.ts'
import { checkFileCount } from '../files.ts'
import { checkedText, checkLastMessage, joinTurns, partsOfMessage, readCacheMark, refuseOthers } from '../messages.ts'
import { readCalledTool, readId } from '../tool-fields.ts'
import { callInputForm, pairResults, isCallInput } from '../tools.ts'

/** The messages of Anthropic's API. Every function throws Problem `invalid_field` for the first fault. */

/** The fields of the ids of calls and results. */
type Places = Map<CallPart | ResultPart, string>

const neutral = neutralIn(messagesFields, 'messages[].content[].')

/** The blocks of each role. */
const blocks = {
  user: ['text', 'image', 'document', 'tool_result'],
  assistant: ['text', 'thinking', 'redacted_thinking', 'tool_use'],
} as const

type Role = keyof typeof blocks

/**
 * Reads the messages. The last one must be the user's, or a system message after it, or a text of the assistant; `cache` marks its last block.
 */
export function readAnthropicMessages(list: readonly unknown[], cache: CacheMark | undefined): readonly Message[] {
  const places: Places = new Map()
  const read = list.map((each, index) => readMessage(each, `messages[${index}]`, places))
  const joined = joinTurns(read)
  checkLast(joined, list.length)
  const messages = pairResults(joined, (part) => places.get(part) ?? 'messages')
  checkFileCount(messages, 'messages')
  return cache === undefined ? messages : withLastMarked(messages, cache)
}

/** Reads the system text: none if it is empty. */
export function readSystem(system: unknown): readonly Message[] {
  if (system === undefined) return []
  const message = messageOf('system', readTexts(system, 'system'))
  return message.text === '' ? [] : [message]
}

/** `length` is the number of messages before turns were joined. */
function checkLast(joined: readonly Message[], length: number): void {
  const last = joined.findLast(({ role }) => role !== 'system')
  if (!last) throw mustBe('messages', 'a list of at least one message of the user')
  const place = `messages[${length - joined.length + joined.lastIndexOf(last)}]`
  if (last.role === 'assistant' && last !== joined.at(-1))
    throw mustBe(`${place}.role`, 'user if a system message follows')
  checkLastMessage(last, place, 'user')
}

function withLastMarked(messages: readonly Message[], cache: CacheMark): readonly Message[] {
  const last = messages.at(-1)
  if (!last) return messages
  const parts = partsOfMessage(last)
  const marked = parts.map((part, index) =>
    index < parts.length - 1 || part.kind === 'reasoning' || part.cache ? part : { ...part, cache },
  )
  return [...messages.slice(0, -1), { role: last.role, parts: marked }]
}

function readMessage(value: unknown, place: string, places: Places): Message {
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe(place, 'an object with role and content')
  const { role, content } = kept
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw mustBe(`${place}.role`, 'one of user, assistant, system')
  }
  refuseOthers(kept, ['role', 'content'], place)
  const field = `${place}.content`
  if (role === 'system') return messageOf(role, readTexts(content, field))
  if (typeof content === 'string') return { role, text: checkedText(content, field) }
  if (!Array.isArray(content)) throw mustBe(field, 'a text, or a list of blocks')
  const parts = content.flatMap((block: unknown, index) => readBlock(block, role, `${field}[${index}]`, places))
  const isLate = (part: Part, index: number) =>
    part.kind === 'result' && index > 0 && parts[index - 1]?.kind !== 'result'
  if (parts.some(isLate)) throw mustBe(field, 'a list of blocks that begins with the tool results')
  return messageOf(role, parts)
}

/** A turn of texts only is one text, unless a place in it is marked for the cache. */
function messageOf(role: Message['role'], parts: readonly Part[]): Message {
  // Vendors refuse empty texts beside other parts.
  const kept = parts.filter((part) => part.kind !== 'text' || part.text !== '')
  if (kept.some((part) => part.kind !== 'text' || part.cache)) return { role, parts: kept }
  return { role, text: kept.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n') }
}

function readBlock(block: unknown, role: Role, place: string, places: Places): readonly Part[] {
  const kept = withoutNeutral(block, neutral, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, 'an object with a type')
  const { type } = kept
  const known = blocks[role].find((each) => each === type)
  switch (known) {
    case 'text':
    case 'image':
    case 'document':
      return [readShown(known, kept, place)]
    case 'thinking':
      return readThinking(kept, place)
    case 'redacted_thinking':
      return [readRedacted(kept, place)]
    case 'tool_use':
      return [placed(readCall(kept, place), `${place}.id`, places)]
    case 'tool_result':
      return [placed(readResult(kept, place), `${place}.tool_use_id`, places)]
    default: {
      const other = typeof type === 'string' ? `: ${shownName(type)} is not supported here` : ''
      throw mustBe(`${place}.type`, `${blocks[role].join(' or ')}${other}`)
    }
  }
}

function placed<Place extends CallPart | ResultPart>(part: Place, field: string, places: Places): Place {
  places.set(part, field)
  return part
}

/** A block of what both the user and a tool can show. */
function readShown(type: 'text' | 'image' | 'document', block: Fields, place: string): TextPart | FilePart {
  if (type === 'text') return readText(block, place)
  const part = type === 'image' ? readImageBlock(block, place) : readDocumentBlock(block, place)
  return { ...part, ...readMark(block, place) }
}

/** The texts of a string, or of a list of text blocks. */
function readTexts(content: unknown, field: string): readonly TextPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: checkedText(content, field) }]
  if (!Array.isArray(content)) throw mustBe(field, 'a text, or a list of text blocks')
  return content.map((block: unknown, index) => {
    const place = `${field}[${index}]`
    const kept = withoutNeutral(block, neutral, `${place}.`)
    if (!isFields(kept) || kept['type'] !== 'text') throw mustBe(`${place}.type`, 'text: only text is supported here')
    return readText(kept, place)
  })
}

/** What a tool returned: a string, or a list of texts, images and documents. */
function readReturned(content: unknown, field: string): readonly (TextPart | FilePart)[] {
  if (!Array.isArray(content)) return readTexts(content, field)
  return content.map((block: unknown, index) => {
    const place = `${field}[${index}]`
    const kept = withoutNeutral(block, neutral, `${place}.`)
    const type = isFields(kept) && shown.find((each) => each === kept['type'])
    if (!isFields(kept) || !type) throw mustBe(`${place}.type`, `one of ${shown.join(', ')}`)
    return readShown(type, kept, place)
  })
}

const shown = ['text', 'image', 'document'] as const

function readText(block: Fields, place: string): TextPart {
  refuseOthers(block, ['type', 'text', 'cache_control'], place)
  return { kind: 'text', text: requiredText(block, 'text', place), ...readMark(block, place) }
}

function readThinking(block: Fields, place: string): readonly ReasoningPart[] {
  refuseOthers(block, ['type', 'thinking', 'signature'], place)
  const text = requiredText(block, 'thinking', place)
  // The reasoning of a model that does not sign it has an empty signature.
  const signature = block['signature'] === undefined ? '' : requiredText(block, 'signature', place)
  if (text === '' && signature === '') return []
  return [{ kind: 'reasoning', text, ...(signature !== '' && { signature }) }]
}

function readRedacted(block: Fields, place: string): ReasoningPart {
  refuseOthers(block, ['type', 'data'], place)
  return { kind: 'reasoning', text: '', signature: requiredText(block, 'data', place), redacted: true }
}

function readCall(block: Fields, place: string): CallPart {
  refuseOthers(block, ['type', 'id', 'name', 'input', 'cache_control'], place)
  const { id, name, input } = block
  if (!isCallInput(input)) throw mustBe(`${place}.input`, callInputForm)
  return {
    kind: 'call',
    id: readId(id, `${place}.id`),
    tool: readCalledTool(name, `${place}.name`),
    input: JSON.stringify(input),
    ...readMark(block, place),
  }
}

function readResult(block: Fields, place: string): ResultPart {
  refuseOthers(block, ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'], place)
  const { tool_use_id: id, content = '', is_error: isError = false } = block
  if (typeof isError !== 'boolean') throw mustBe(`${place}.is_error`, 'true or false')
  return {
    kind: 'result',
    callId: readId(id, `${place}.tool_use_id`),
    content: readReturned(content, `${place}.content`).filter((part) => part.kind !== 'text' || part.text !== ''),
    ...(isError && { isError }),
    ...readMark(block, place),
  }
}

function requiredText(block: Fields, name: string, place: string): string {
  const { [name]: text } = block
  if (typeof text !== 'string') throw mustBe(`${place}.${name}`, 'a text')
  return checkedText(text, `${place}.${name}`)
}

function readMark(block: Fields, place: string): { readonly cache?: CacheMark } {
  const cache = readCacheMark(block['cache_control'], `${place}.cache_control`)
  return cache ? { cache } : {}
}
