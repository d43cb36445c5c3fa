import type { CallPart, FilePart, Message, Part, ResultPart, TextPart } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import { neutralIn, responsesFields } from '../field-rules.ts'
import { checkFileCount } from '../files.ts'
import { checkedText, mostMessages, refuseOthers } from '../messages.ts'
import { foundText, joinedName, searchName, type ReadTool } from './named-tools.ts'
import { readReasoning } from './reasoning.ts'
import { readAddedTools } from './tools.ts'
import { readCalledTool, readId, readInput } from '../tool-fields.ts'
import { pairResults } from '../tools.ts'
import { readFileData, readImageUrl, refuseElsewhere } from '../openai.ts'

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
}

/** What items have besides their content. */
interface Found {
  /** The fields of the ids of calls and results. */
  readonly places: Map<CallPart | ResultPart, string>
  /** The tools that items brought. */
  readonly tools: ReadTool[]
}

export interface ResponseInput {
  readonly messages: readonly Message[]
  readonly tools: readonly ReadTool[]
}

/** What an item contributes to a turn. Its text is defined if the item is a message of text only. */
interface Item {
  readonly role: Message['role']
  readonly isMessage: boolean
  readonly parts: readonly Part[]
  readonly text?: string | undefined
}

/** Items that form one turn, so far. */
interface Turn {
  readonly role: Message['role']
  isMessage: boolean
  readonly parts: Part[]
  text: string | undefined
}

/**
 * Reads the items of a conversation. The last one must be the user's, or the result of a call. What the assistant thought,
 * said and called in a row is one turn; so are the results of calls and the user's message after them. Leaves a value that
 * is not a list, and a list that is too long, to the schema. Throws Problem `invalid_field` for the first fault.
 */
export function readResponseInput(list: unknown): ResponseInput {
  if (!Array.isArray(list) || list.length > mostMessages) return { messages: [], tools: [] }
  const found: Found = { places: new Map(), tools: [] }
  const turns: Turn[] = []
  for (const [index, value] of list.entries()) {
    const item = readItem(value, `input[${index}]`, found)
    const before = turns.at(-1)
    if (before && joins(before, item)) join(before, item)
    else if (item.isMessage || item.parts.length > 0) turns.push(turnOf(item))
    if (index === list.length - 1) checkLast(item, `input[${index}]`)
  }
  if (turns.length === 0) throw mustBe('input', 'a list of at least one message')
  const messages = pairResults(turns.map(messageOf), (part) => found.places.get(part) ?? 'input')
  checkFileCount(messages, 'input')
  return { messages, tools: found.tools }
}

const turnOf = ({ role, isMessage, parts, text }: Item): Turn => ({ role, isMessage, parts: [...parts], text })

function messageOf({ role, text, parts }: Turn): Message {
  return text === undefined ? { role, parts } : { role, text }
}

function join(turn: Turn, { parts }: Item): void {
  for (const part of parts) turn.parts.push(part)
  turn.isMessage = false
  turn.text = undefined
}

/** Messages in a row remain turns of their own. */
function joins(before: Turn, { role, isMessage }: Item): boolean {
  if (role !== before.role || role === 'system') return false
  if (role === 'assistant') return !isMessage || !before.isMessage
  // A turn with results begins with one.
  return before.parts.at(isMessage ? -1 : 0)?.kind === 'result'
}

function checkLast({ role, isMessage, parts }: Item, place: string): void {
  if (role !== 'user') {
    const field = isMessage ? 'role' : 'type'
    throw mustBe(`${place}.${field}`, "a user's message or function_call_output: the last item is the one to reply to")
  }
  if (isMessage && parts.every((part) => part.kind === 'text' && !/\S/.test(part.text))) {
    throw mustBe(`${place}.content`, 'a text that is not blank')
  }
}

type Reader = (fields: Fields, place: string, found: Found) => Item

const readers: Readonly<Record<string, Reader>> = {
  message: readMessage,
  function_call: readCall,
  function_call_output: readResult,
  custom_tool_call: readCustomCall,
  custom_tool_call_output: readResult,
  tool_search_call: readSearch,
  tool_search_output: readSearchResult,
  additional_tools: readAdditional,
  reasoning: (fields, place) => ({ role: 'assistant', isMessage: false, parts: readReasoning(fields, place) }),
}

const neutral = neutralIn(responsesFields, 'input[].')
const neutralOfPart = neutralIn(responsesFields, 'input[].content[].')

/** An output item of an earlier response can be sent back as it was received: `status` has no effect. */
function readItem(value: unknown, place: string, found: Found): Item {
  const kept = withoutNeutral(value, neutral, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, 'an object: a message or another item')
  const { type = 'message', status: _, ...fields } = kept
  const read = typeof type === 'string' && Object.hasOwn(readers, type) ? readers[type] : undefined
  if (read) return read(fields, place, found)
  if (type === 'item_reference') {
    throw mustBe(
      `${place}.type`,
      'that of a whole item: nothing is stored here, and clients send whole items if store is false',
    )
  }
  throw mustBe(`${place}.type`, `one of ${Object.keys(readers).join(', ')}: no other item is supported here`)
}

function readMessage(fields: Fields, place: string): Item {
  const { role, content } = fields
  const known = typeof role === 'string' && Object.hasOwn(roles, role) ? roles[role] : undefined
  if (known === undefined) throw mustBe(`${place}.role`, `one of ${Object.keys(roles).join(', ')}`)
  const isAssistant = known === 'assistant'
  refuseOthers(fields, ['id', 'role', 'content', ...(isAssistant ? ['phase'] : [])], place)
  const types = isAssistant ? ['input_text', 'output_text', 'refusal'] : ['input_text', 'output_text']
  const read = known === 'user' ? readShown : readTexts
  const parts = read(content, `${place}.content`, types)
  // Vendors refuse empty texts beside other parts.
  if (!parts.every(isText)) return { role: known, isMessage: true, parts: parts.filter(isFilled) }
  const text = parts.map((part) => part.text).join('\n')
  return { role: known, isMessage: true, text, parts: text === '' ? [] : [{ kind: 'text', text }] }
}

function readCall(fields: Fields, place: string, found: Found): Item {
  refuseOthers(fields, ['id', 'call_id', 'namespace', 'name', 'arguments', 'created_by'], place)
  return callOf(
    fields,
    readCalledName(fields, place),
    readInput(fields['arguments'], `${place}.arguments`),
    place,
    found,
  )
}

function readCustomCall(fields: Fields, place: string, found: Found): Item {
  refuseOthers(fields, ['id', 'call_id', 'namespace', 'name', 'input', 'created_by'], place)
  const { input } = fields
  if (typeof input !== 'string') throw mustBe(`${place}.input`, 'a text')
  const written = JSON.stringify({ input: checkedText(input, `${place}.input`) })
  return callOf(fields, readCalledName(fields, place), written, place, found)
}

function readSearch(fields: Fields, place: string, found: Found): Item {
  refuseOthers(fields, ['id', 'call_id', 'execution', 'arguments', 'created_by'], place)
  const { arguments: asked } = fields
  const written = typeof asked === 'string' ? asked : JSON.stringify(asked)
  return callOf(fields, searchName, readInput(written, `${place}.arguments`), place, found)
}

function readCalledName(fields: Fields, place: string): string {
  const { namespace } = fields
  const name = readCalledTool(fields['name'], `${place}.name`)
  return namespace === undefined
    ? name
    : joinedName({ namespace: readCalledTool(namespace, `${place}.namespace`), name })
}

function callOf(fields: Fields, tool: string, input: string, place: string, { places }: Found): Item {
  const part: CallPart = { kind: 'call', id: readId(fields['call_id'], `${place}.call_id`), tool, input }
  places.set(part, `${place}.call_id`)
  return { role: 'assistant', isMessage: false, parts: [part] }
}

function readResult(fields: Fields, place: string, found: Found): Item {
  refuseOthers(fields, ['id', 'call_id', 'name', 'output', 'created_by'], place)
  return resultOf(fields, readShown(fields['output'], `${place}.output`, ['input_text', 'output_text']), place, found)
}

/** The model can call what was found from now on. A later search may find a tool again. */
function readSearchResult(fields: Fields, place: string, found: Found): Item {
  refuseOthers(fields, ['id', 'call_id', 'execution', 'tools', 'created_by'], place)
  const tools = readAddedTools(fields['tools'], `${place}.tools`)
  const known = new Set(found.tools.map(({ tool }) => tool.name))
  found.tools.push(...tools.filter(({ tool }) => !known.has(tool.name)))
  return resultOf(fields, [{ kind: 'text', text: foundText(tools) }], place, found)
}

function resultOf(fields: Fields, content: ResultPart['content'], place: string, { places }: Found): Item {
  const part: ResultPart = { kind: 'result', callId: readId(fields['call_id'], `${place}.call_id`), content }
  places.set(part, `${place}.call_id`)
  return { role: 'user', isMessage: false, parts: [part] }
}

function readAdditional(fields: Fields, place: string, found: Found): Item {
  refuseOthers(fields, ['id', 'role', 'tools', 'created_by'], place)
  if (fields['role'] !== 'developer') throw mustBe(`${place}.role`, 'developer')
  found.tools.push(...readAddedTools(fields['tools'], `${place}.tools`))
  return { role: 'system', isMessage: false, parts: [] }
}

/** Reads a text, or a list of text parts. An empty text has no part. */
function readTexts(content: unknown, field: string, types: readonly string[]): readonly TextPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: checkedText(content, field) }]
  if (!Array.isArray(content)) throw mustBe(field, 'a text, or a list of text parts')
  return content.map((part: unknown, index) => readText(part, `${field}[${index}]`, types))
}

type ShownPart = TextPart | FilePart

/** The same with images and documents. */
function readShown(content: unknown, field: string, types: readonly string[]): readonly ShownPart[] {
  if (!Array.isArray(content)) return readTexts(content, field, types)
  return content.map((part: unknown, index) => readShownPart(part, `${field}[${index}]`, types))
}

function readShownPart(part: unknown, place: string, types: readonly string[]): ShownPart {
  const kept = withoutNeutral(part, neutralOfPart, `${place}.`)
  const file = isFields(kept) ? readResponseFile(kept, place) : undefined
  return file ?? readKept(kept, place, [...types, 'input_image', 'input_file'])
}

const isText = (part: ShownPart): part is TextPart => part.kind === 'text'
const isFilled = (part: ShownPart): boolean => !isText(part) || part.text !== ''

function readText(part: unknown, place: string, types: readonly string[]): TextPart {
  return readKept(withoutNeutral(part, neutralOfPart, `${place}.`), place, types)
}

/** Reads a part without its neutral fields. `types` are those that could stand here. */
function readKept(kept: unknown, place: string, types: readonly string[]): TextPart {
  if (!isFields(kept)) throw mustBe(place, `an object of type ${types.join(' or ')}`)
  const { type } = kept
  if (typeof type !== 'string' || !types.includes(type)) {
    throw mustBe(`${place}.type`, `${types.join(' or ')}: no other part is supported here`)
  }
  const name = type === 'refusal' ? 'refusal' : 'text'
  refuseOthers(kept, ['type', name], place)
  const text = kept[name]
  if (typeof text !== 'string') throw mustBe(`${place}.${name}`, 'a text')
  return { kind: 'text', text: checkedText(text, `${place}.${name}`) }
}

/** Reads an image or a document of OpenAI's responses; undefined for a part of another type. Throws Problem `invalid_field`. */
function readResponseFile(part: Fields, place: string): FilePart | undefined {
  switch (part['type']) {
    case 'input_image':
      refuseElsewhere(part, 'image_url', place)
      refuseOthers(part, ['type', 'image_url', 'detail'], place)
      return readImageUrl(part['image_url'], `${place}.image_url`, part['detail'], place)
    case 'input_file':
      refuseElsewhere(part, 'file_data', place)
      refuseOthers(part, ['type', 'filename', 'file_data'], place)
      return readFileData(part, place)
    default:
      return undefined
  }
}
