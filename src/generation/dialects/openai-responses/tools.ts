import type { ReplyFormat, Tool, ToolChoice, Verbosity, WebSearch } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import type { Permissions } from '../dialect.ts'
import { neutralIn, responsesFields } from '../field-rules.ts'
import { refuseOthers } from '../messages.ts'
import {
  joinedName,
  keptTool,
  readCustomTool,
  readNamespace,
  readSearchTool,
  type NamedTools,
  type ReadTool,
} from './named-tools.ts'
import {
  readDescription,
  readNamedSchema,
  readStrict,
  readToolName,
  readVerbosity,
  requireFunction,
} from '../tool-fields.ts'
import { checkParameters, checkToolChoice, checkTools, listOfTools } from '../tools.ts'
import { readLocation, readPlaces, readUses } from '../web-search.ts'

/** What the model may call and how it must reply, as responses write it. All throw Problem `invalid_field` for the first fault. */

const neutralOfTool = neutralIn(responsesFields, 'tools[].')

/** The tools of a request. */
export interface ResponseTools {
  /** As models know them. */
  readonly tools: readonly Tool[]
  readonly named: NamedTools
  /** As a response repeats them: those of its field `tools` that the model was given. */
  readonly repeated: readonly object[]
  /** The search of the vendor, if some model has one with a price. */
  readonly search?: WebSearch
}

/** An entry of a list: a tool, or a namespace of tools. */
interface Entry {
  readonly tools: readonly ReadTool[]
  readonly repeated: object
}

/** Reads the field `tools`, and adds the tools that items of the input brought. */
export function readTools(
  list: unknown,
  choice: unknown,
  added: readonly ReadTool[],
  { permitted, maxUses }: SearchSettings,
): ResponseTools {
  const { others, search } = withoutSearch(listOfTools(list), choice, permitted)
  const entries = others.map(({ value, place }) => readEntry(value, place))
  const read = [...entries.flatMap((entry) => entry.tools), ...added]
  const tools = read.map(({ tool }) => tool)
  listOfTools(tools)
  checkTools(tools, (index) => read[index]?.place ?? 'tools')
  const special = read.map(({ named }) => named).filter(({ type, namespace }) => type !== 'function' || namespace)
  return {
    tools,
    named: new Map(special.map((named) => [joinedName(named), named])),
    repeated: entries.map(({ repeated }) => repeated),
    ...(search && { search: readSearch(search, maxUses) }),
  }
}

/** What decides about a search besides its tool. */
export interface SearchSettings {
  readonly permitted: Permissions
  /** The field `max_tool_calls`, as the caller sent it. */
  readonly maxUses: unknown
}

/** Reads the tools that an item of the input has. */
export function readAddedTools(list: unknown, place: string): readonly ReadTool[] {
  if (!Array.isArray(list)) throw mustBe(place, 'a list of tools')
  return list.flatMap((value: unknown, index) => readEntry(value, `${place}[${index}]`).tools)
}

/**
 * The list without the vendor's web search, beside tools of the caller's and if the model may choose. A model that may search need
 * not, and the response repeats only the other tools. Alone, or where the model has no choice, it is refused.
 */
function withoutSearch(list: readonly unknown[], choice: unknown, permitted: Permissions): ListedTools {
  const all = list.map((value, index) => ({ value, place: `tools[${index}]` }))
  const others = all.filter(({ value }) => !isFields(value) || !searches.has(value['type']))
  if (others.length === all.length) return { others: all }
  const optional = others.length > 0 && (choice === undefined || choice === 'auto' || choice === 'none')
  const found = all.find((each) => !others.includes(each))
  if (found && choice !== 'none' && permitted.searches === true) return { others, search: { ...found, optional } }
  return { others: optional ? others : all }
}

interface Listed {
  readonly value: unknown
  readonly place: string
}

interface ListedTools {
  readonly others: readonly Listed[]
  readonly search?: Listed & { readonly optional: boolean }
}

function readSearch({ value, place, optional }: Listed & { readonly optional: boolean }, maxUses: unknown): WebSearch {
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe(place, 'an object')
  refuseOthers(kept, ['type', 'search_context_size', 'user_location', 'filters', 'external_web_access'], place)
  const { search_context_size: size, filters = {}, external_web_access: access = true } = kept
  if (size !== undefined && size !== 'low' && size !== 'medium' && size !== 'high') {
    throw mustBe(`${place}.search_context_size`, 'low, medium or high')
  }
  if (access !== true) throw mustBe(`${place}.external_web_access`, 'true or omitted')
  if (!isFields(filters)) throw mustBe(`${place}.filters`, 'an object with allowed_domains')
  refuseOthers(filters, ['allowed_domains', 'blocked_domains'], `${place}.filters`)
  return {
    field: place,
    optional,
    maxUses: readUses(maxUses, 'max_tool_calls'),
    ...readPlaces(filters, `${place}.filters`),
    ...readLocation(kept['user_location'], `${place}.user_location`),
    ...(size !== undefined && { contextSize: size }),
  }
}

const searches: ReadonlySet<unknown> = new Set([
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
])

function readEntry(value: unknown, place: string): Entry {
  const kept = keptTool(value, place)
  if (kept['type'] === 'tool_search') {
    const read = readSearchTool(kept, place)
    const { description, parameters } = read.tool
    return {
      tools: [read],
      repeated: { type: 'tool_search', execution: 'client', description: description ?? null, parameters },
    }
  }
  if (kept['type'] !== 'namespace') {
    const read = readTool(kept, place)
    return { tools: [read], repeated: repeatedTool(read, kept) }
  }
  const inner: object[] = []
  const { name, description, tools } = readNamespace(kept, place, (each, at) => {
    const fields = keptTool(each, at)
    const read = readTool(fields, at)
    inner.push(repeatedTool(read, fields))
    return read
  })
  return { tools, repeated: { type: 'namespace', name, description: description ?? null, tools: inner } }
}

/** A custom tool is repeated as it was sent: the model knows another description. */
function repeatedTool({ tool, named }: ReadTool, { description: given, format }: Fields): object {
  const { name, description, parameters, strict } = tool
  return named.type === 'custom'
    ? { type: 'custom', name, description: given ?? null, format: format ?? { type: 'text' } }
    : { type: 'function', name, description: description ?? null, parameters, strict: strict ?? null }
}

function readTool(value: Fields, place: string): ReadTool {
  const isCustom = value['type'] === 'custom'
  if (!isCustom) requireFunction(value, place)
  const described = withoutNeutral(value, neutralOfTool, `${place}.`)
  if (!isFields(described)) throw mustBe(place, 'an object of type function')
  if (isCustom) return readCustomTool(described, place)
  refuseOthers(described, ['type', 'name', 'description', 'parameters', 'strict'], place)
  const { name: given, description, parameters = { type: 'object', properties: {} }, strict } = described
  const name = readToolName(given, `${place}.name`)
  return {
    tool: {
      name,
      ...readDescription(description, `${place}.description`),
      parameters: checkParameters(parameters, `${place}.parameters`),
      field: `${place}.parameters`,
      ...readStrict(strict, `${place}.strict`),
    },
    named: { type: 'function', name },
    place,
  }
}

export function readToolChoice(value: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  const choice = value === undefined ? undefined : choiceOf(value)
  checkToolChoice(choice, tools, 'tool_choice.name')
  return choice
}

function choiceOf(value: unknown): ToolChoice {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (!isFields(value)) throw mustBe('tool_choice', 'none, auto, required or an object that names a function')
  if (value['type'] !== 'custom') requireFunction(value, 'tool_choice')
  refuseOthers(value, ['type', 'name'], 'tool_choice')
  return { tool: readToolName(value['name'], 'tool_choice.name') }
}

/** The field `text`. */
interface TextSettings {
  /** Undefined if any text will do. */
  readonly format?: ReplyFormat | undefined
  readonly verbosity?: Verbosity | undefined
}

export function readTextSettings(text: unknown): TextSettings {
  const kept = withoutNeutral(text, {}, 'text.')
  if (!isFields(kept)) throw mustBe('text', 'an object')
  refuseOthers(kept, ['format', 'verbosity'], 'text')
  const { format, verbosity } = kept
  return {
    format: format === undefined ? undefined : formatOf(withoutNeutral(format, {})),
    verbosity: readVerbosity(verbosity, 'text.verbosity'),
  }
}

function formatOf(format: unknown): ReplyFormat | undefined {
  const place = 'text.format'
  if (!isFields(format)) throw mustBe(place, 'an object with a type')
  const { type } = format
  if (type !== 'text' && type !== 'json_object' && type !== 'json_schema') {
    throw mustBe(`${place}.type`, 'text, json_object or json_schema')
  }
  refuseOthers(format, type === 'json_schema' ? ['type', 'name', 'description', 'schema', 'strict'] : ['type'], place)
  if (type === 'text') return undefined
  if (type === 'json_object') return { kind: 'json' }
  return readNamedSchema(format, place)
}
