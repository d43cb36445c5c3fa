import type { ReplyFormat, Tool, ToolChoice } from '../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral } from './body.ts'
import { neutralIn, responsesFields } from './field-table.ts'
import { refuseOthers } from './messages.ts'
import {
  joinedName,
  joinedTools,
  readNamespace,
  type SpacedName,
  type SpacedNames,
} from './openai-response-namespaces.ts'
import { readDescription, readNamedSchema, readStrict, readToolName, requireFunction } from './tool-fields.ts'
import { checkParameters, checkToolChoice, checkTools, listOfTools } from './tools.ts'

/** What the model may call and how it must reply, as responses write it. All throw Problem `invalid_field` for the first fault. */

const neutralOfTool = neutralIn(responsesFields, 'tools[].')
const neutralOfText = neutralIn(responsesFields, 'text.')

/** The tools of a request. */
export interface ResponseTools {
  /** As models know them. */
  readonly tools: readonly Tool[]
  readonly spaced: SpacedNames
  /** As a response repeats them: those that the model was given. */
  readonly repeated: readonly object[]
}

/** An entry of the list: a function, or a namespace of functions. */
interface Entry {
  /** The paths of the objects with the names of `tools`. */
  readonly places: readonly string[]
  readonly tools: readonly Tool[]
  readonly spaced: readonly SpacedName[]
  readonly repeated: object
}

export function readTools(list: unknown, choice: unknown): ResponseTools {
  const entries = withoutSearch(listOfTools(list), choice).map(({ value, place }) => readEntry(value, place))
  const tools = entries.flatMap((entry) => entry.tools)
  const places = entries.flatMap((entry) => entry.places)
  listOfTools(tools)
  checkTools(tools, (index) => places[index] ?? 'tools')
  const spaced = entries.flatMap((entry) => entry.spaced)
  return {
    tools,
    spaced: new Map(spaced.map((name) => [joinedName(name), name])),
    repeated: entries.map(({ repeated }) => repeated),
  }
}

/**
 * The list without the vendor's web search, beside tools of the caller's and if the model may choose. A model that may search need
 * not, and the response repeats only the other tools. Alone, or where the model has no choice, it is refused.
 */
function withoutSearch(list: readonly unknown[], choice: unknown) {
  const all = list.map((value, index) => ({ value, place: `tools[${index}]` }))
  const others = all.filter(({ value }) => !isFields(value) || !searches.has(value['type']))
  return others.length > 0 && (choice === undefined || choice === 'auto' || choice === 'none') ? others : all
}

const searches: ReadonlySet<unknown> = new Set([
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
])

function readEntry(value: unknown, place: string): Entry {
  const kept = withoutNeutral(value, {}, `${place}.`)
  if (!isFields(kept) || kept['type'] !== 'namespace') {
    const tool = readTool(kept, place)
    return { places: [place], tools: [tool], spaced: [], repeated: repeatedTool(tool) }
  }
  const namespace = readNamespace(kept, place, readTool)
  const { name, description, functions } = namespace
  return {
    places: functions.map((_, index) => `${place}.tools[${index}]`),
    tools: joinedTools(namespace),
    spaced: functions.map((tool) => ({ namespace: name, name: tool.name })),
    repeated: { type: 'namespace', name, description: description ?? null, tools: functions.map(repeatedTool) },
  }
}

const repeatedTool = ({ name, description, parameters, strict }: Tool) => ({
  type: 'function',
  name,
  description: description ?? null,
  parameters,
  strict: strict ?? null,
})

function readTool(value: unknown, place: string): Tool {
  const kept = withoutNeutral(value, {}, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, 'an object of type function')
  requireFunction(kept, place)
  const described = withoutNeutral(kept, neutralOfTool, `${place}.`)
  if (!isFields(described)) throw mustBe(place, 'an object of type function')
  refuseOthers(described, ['type', 'name', 'description', 'parameters', 'strict'], place)
  const { name, description, parameters = { type: 'object', properties: {} }, strict } = described
  return {
    name: readToolName(name, `${place}.name`),
    ...readDescription(description, `${place}.description`),
    parameters: checkParameters(parameters, `${place}.parameters`),
    field: `${place}.parameters`,
    ...readStrict(strict, `${place}.strict`),
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
  requireFunction(value, 'tool_choice')
  refuseOthers(value, ['type', 'name'], 'tool_choice')
  return { tool: readToolName(value['name'], 'tool_choice.name') }
}

/** `text`; undefined if any text will do. */
export function readReplyFormat(text: unknown): ReplyFormat | undefined {
  if (text === undefined) return undefined
  const kept = withoutNeutral(text, neutralOfText, 'text.')
  if (!isFields(kept)) throw mustBe('text', 'an object')
  refuseOthers(kept, ['format'], 'text')
  const { format } = kept
  return format === undefined ? undefined : formatOf(withoutNeutral(format, {}))
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
