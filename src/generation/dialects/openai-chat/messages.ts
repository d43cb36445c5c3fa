import type { CallPart, FilePart, Message, Part, ResultPart, TextPart } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import { chatFields, neutralIn } from '../field-rules.ts'
import { checkFileCount } from '../files.ts'
import { checkedText, checkLastMessage, joinTurns, mostMessages, readCacheMark, refuseOthers } from '../messages.ts'
import { readChatFile } from './files.ts'
import { readReasoning, type PlacedReasoning } from './reasoning.ts'
import { withCustomInputs } from './custom-tools.ts'
import { readCalledTool, readId, readInput, requireFunction } from '../tool-fields.ts'
import { pairResults } from '../tools.ts'

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'user',
}

const neutralOfMessage = neutralIn(chatFields, 'messages[].')
const neutralOfPart = neutralIn(chatFields, 'messages[].content[].')
const neutralOfCall = neutralIn(chatFields, 'messages[].tool_calls[].')
const neutralOfFunction = neutralIn(chatFields, 'messages[].tool_calls[].function.')

/** The fields of a message. The name of an assistant has no effect. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  developer: ['role', 'content'],
  user: ['role', 'content'],
  assistant: [
    'role',
    'content',
    'refusal',
    'name',
    'tool_calls',
    'reasoning_content',
    'reasoning',
    'reasoning_details',
    'prefix',
    'partial',
  ],
  tool: ['role', 'content', 'name', 'tool_call_id'],
}

/** The fields of the ids of calls and results. */
type Places = Map<CallPart | ResultPart, string>

/**
 * Reads the messages of a chat. The last one must be the user's, the result of a call, or a text of the assistant. Leaves a value that is not a list,
 * and a list that is too long, to the schema. `customTools`: the names of tools whose input is a text. Throws Problem `invalid_field` for the
 * first fault.
 */
export function readChatMessages(list: unknown, customTools: ReadonlySet<string> = new Set()): readonly Message[] {
  if (!Array.isArray(list) || list.length > mostMessages) return []
  const places: Places = new Map()
  const read = list.map((each: unknown, index) => {
    const place = `messages[${index}]`
    checkContinued(each, place, index === list.length - 1)
    return readMessage(customTools.size === 0 ? each : withCustomInputs(each, place, customTools), place, places)
  })
  const joined = joinTurns(read)
  const last = joined.at(-1)
  if (!last) throw mustBe('messages', 'a list of at least one message')
  checkLastMessage(last, `messages[${list.length - 1}]`, 'user or tool')
  const messages = pairResults(joined, (part) => places.get(part) ?? 'messages')
  checkFileCount(messages, 'messages')
  return messages
}

/** `prefix` and `partial` mark the message that the reply continues. Here it is the last one, with or without a mark. */
function checkContinued(message: unknown, place: string, isLast: boolean): void {
  if (!isFields(message)) return
  const { prefix = isLast, partial = isLast } = message
  if ((prefix === isLast || prefix === null) && (partial === isLast || partial === null)) return
  const name = prefix === isLast || prefix === null ? 'partial' : 'prefix'
  throw mustBe(`${place}.${name}`, `${isLast} or omitted: the last message is continued`)
}

function readMessage(value: unknown, place: string, places: Places): Message {
  const kept = withoutNeutral(value, neutralOfMessage, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, 'an object with role and content')
  const { role, content } = kept
  const known = typeof role === 'string' && Object.hasOwn(roles, role) ? roles[role] : undefined
  if (typeof role !== 'string' || known === undefined) {
    throw mustBe(`${place}.role`, `one of ${Object.keys(roles).join(', ')}`)
  }
  refuseOthers(kept, fieldsOf[role] ?? [], place)
  if (role === 'tool') return { role: 'user', parts: [readResult(kept, place, places)] }
  if (role === 'assistant') return readAssistant(withRefusals(withEchoed(kept), place), place, places)
  const read = role === 'user' ? readUserContent : readContent
  return messageOf(known, read(content, `${place}.content`))
}

type UserPart = TextPart | FilePart

const messageOf = (role: Message['role'], content: string | readonly UserPart[]): Message =>
  typeof content === 'string' ? { role, text: content } : { role, parts: content }

/** A text; or its parts, if places in it are marked for the cache. */
function readContent(content: unknown, field: string): string | readonly TextPart[] {
  if (typeof content === 'string') return checkedText(content, field)
  return textOrParts(readTexts(content, field))
}

function textOrParts(texts: readonly TextPart[]): string | readonly TextPart[] {
  return texts.some(({ cache }) => cache) ? texts : texts.map(({ text }) => text).join('\n')
}

/** The same with images and documents. */
function readUserContent(content: unknown, field: string): string | readonly UserPart[] {
  if (!Array.isArray(content)) return readContent(content, field)
  const parts = content.map((part: unknown, index) => readUserPart(part, `${field}[${index}]`))
  if (parts.every((part) => part.kind === 'text')) return textOrParts(parts)
  // Vendors refuse empty texts beside other parts.
  return parts.filter((part) => part.kind !== 'text' || part.text !== '')
}

function readUserPart(part: unknown, place: string): UserPart {
  const kept = withoutNeutral(part, neutralOfPart, `${place}.`)
  const file = isFields(kept) ? readChatFile(kept, place) : undefined
  return file ?? readKept(kept, place, 'text, image_url or file: nothing else')
}

function readTexts(content: unknown, field: string): readonly TextPart[] {
  if (!Array.isArray(content)) throw mustBe(field, 'a text, or a list of text parts')
  return content.map((part: unknown, index) => readText(part, `${field}[${index}]`))
}

function readText(part: unknown, place: string): TextPart {
  return readKept(withoutNeutral(part, neutralOfPart, `${place}.`), place, 'text: only text')
}

/** Reads a part without its neutral fields. `types` are those that could stand here. */
function readKept(kept: unknown, place: string, types: string): TextPart {
  if (!isFields(kept)) throw mustBe(place, 'an object of type text')
  const { type, text } = kept
  if (type !== 'text') throw mustBe(`${place}.type`, `${types} is supported here`)
  refuseOthers(kept, ['type', 'text', 'cache_control'], place)
  if (typeof text !== 'string') throw mustBe(`${place}.text`, 'a text')
  const cache = readCacheMark(kept['cache_control'], `${place}.cache_control`)
  return { kind: 'text', text: checkedText(text, `${place}.text`), ...(cache && { cache }) }
}

function readResult({ tool_call_id: id, content }: Fields, place: string, places: Places): ResultPart {
  const field = `${place}.content`
  const texts = typeof content === 'string' ? partsOfText(checkedText(content, field)) : readTexts(content, field)
  const part: ResultPart = { kind: 'result', callId: readId(id, `${place}.tool_call_id`), content: texts }
  places.set(part, `${place}.tool_call_id`)
  return part
}

const partsOfText = (text: string): readonly TextPart[] => (text === '' ? [] : [{ kind: 'text', text }])

/** Fields of a message that a client may send back in its text. */
const echoed: readonly string[] = ['tool_calls', 'reasoning_content', 'reasoning', 'reasoning_details']

/** The Agents SDK sends a text back with the fields of the message it came in. They count where the message lacks them. */
function withEchoed(message: Fields): Fields {
  const { content } = message
  if (!Array.isArray(content)) return message
  const echoes: Record<string, unknown> = {}
  const parts = content.map((part: unknown) => {
    if (!isFields(part) || !echoed.some((name) => Object.hasOwn(part, name))) return part
    for (const name of echoed) if (part[name] !== undefined && part[name] !== null) echoes[name] = part[name]
    return Object.fromEntries(Object.entries(part).filter(([name]) => !echoed.includes(name)))
  })
  return { ...echoes, ...message, content: parts }
}

/** The words in which a model refused to reply are its text: all of it, or parts of it. */
function withRefusals(message: Fields, place: string): Fields {
  const { refusal, content, ...rest } = message
  if (refusal === undefined) return Array.isArray(content) ? { ...rest, content: content.map(plainPart) } : message
  if (typeof refusal !== 'string') throw mustBe(`${place}.refusal`, 'a text')
  if (content !== undefined && content !== '') throw mustBe(`${place}.refusal`, 'omitted if there is content')
  return { ...rest, content: checkedText(refusal, `${place}.refusal`) }
}

function plainPart(part: unknown): unknown {
  if (!isFields(part) || part['type'] !== 'refusal') return part
  const { refusal, ...rest } = part
  return { ...rest, type: 'text', text: refusal }
}

/** A turn of the assistant: what it thought, what it said, and what it called. */
function readAssistant(fields: Fields, place: string, places: Places): Message {
  const calls = readCalls(fields['tool_calls'], `${place}.tool_calls`, places)
  const reasoning = readReasoning(fields, place)
  // A reply without any content is sent back as it came, with null.
  const { content = '' } = fields
  const said = readContent(content, `${place}.content`)
  if (calls.length === 0 && reasoning.length === 0) return messageOf('assistant', said)
  const others = [...(typeof said === 'string' ? partsOfText(said) : said), ...calls]
  return { role: 'assistant', parts: withReasoning(others, reasoning) }
}

/** Puts all reasoning at its place. */
function withReasoning(others: readonly Part[], reasoning: readonly PlacedReasoning[]): readonly Part[] {
  const parts: Part[] = []
  let taken = 0
  const take = (count: number): void => {
    const next = others.slice(taken, taken + Math.max(0, count))
    for (const part of next) parts.push(part)
    taken += next.length
  }
  for (const { index, part } of reasoning.toSorted((a, b) => a.index - b.index)) {
    take(index - parts.length)
    parts.push(part)
  }
  take(others.length)
  return parts
}

function readCalls(list: unknown, field: string, places: Places): readonly CallPart[] {
  if (list === undefined) return []
  if (!Array.isArray(list)) throw mustBe(field, 'a list of calls')
  return list.map((call: unknown, index) => readCall(call, `${field}[${index}]`, places))
}

function readCall(value: unknown, place: string, places: Places): CallPart {
  const kept = withoutNeutral(value, neutralOfCall)
  if (!isFields(kept)) throw mustBe(place, 'an object of type function')
  // Some frameworks leave out the type when they send a call back.
  if (kept['type'] !== undefined) requireFunction(kept, place)
  refuseOthers(kept, ['id', 'type', 'function'], place)
  const { id } = kept
  const called = withoutNeutral(kept['function'], neutralOfFunction, `${place}.function.`)
  if (!isFields(called)) throw mustBe(`${place}.function`, 'an object with name and arguments')
  refuseOthers(called, ['name', 'arguments'], `${place}.function`)
  const part: CallPart = {
    kind: 'call',
    id: readId(id, `${place}.id`),
    tool: readCalledTool(called['name'], `${place}.function.name`),
    input: readInput(called['arguments'], `${place}.function.arguments`),
  }
  places.set(part, `${place}.id`)
  return part
}
