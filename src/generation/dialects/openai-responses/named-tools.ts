import type { Tool } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import { refuseOthers } from '../messages.ts'
import { readDescription, readToolName } from '../tool-fields.ts'
import { checkParameters } from '../tools.ts'

/**
 * The kinds of tools that only responses have: functions in a namespace, custom tools, whose input is a text, and the search for tools that
 * the caller runs. Models know all of them as functions. All functions throw Problem `invalid_field` for the first fault.
 */

/** How a response writes the calls of a tool. */
export interface NamedTool {
  readonly type: 'function' | 'custom' | 'tool_search'
  readonly namespace?: string
  /** In its namespace. */
  readonly name: string
}

/** By the names that models know. A tool without an entry is a function of that name. */
export type NamedTools = ReadonlyMap<string, NamedTool>

export const joinedName = ({ namespace, name }: Pick<NamedTool, 'namespace' | 'name'>): string =>
  namespace === undefined ? name : `${namespace}__${name}`

/** A tool as models know it, and what it is to the caller. */
export interface ReadTool {
  readonly tool: Tool
  readonly named: NamedTool
  /** The path of the object with its name. */
  readonly place: string
}

export interface Namespace {
  readonly name: string
  readonly description?: string
  readonly tools: readonly ReadTool[]
}

type ReadInner = (value: unknown, place: string) => ReadTool

/** Reads a tool of type `namespace`, and its tools with `readInner`. The first one's description begins with that of the namespace. */
export function readNamespace(value: Fields, place: string, readInner: ReadInner): Namespace {
  refuseOthers(value, ['type', 'name', 'description', 'tools'], place)
  const { name: given, tools } = value
  if (!Array.isArray(tools)) throw mustBe(`${place}.tools`, 'a list of functions')
  const name = readToolName(given, `${place}.name`)
  const { description } = readDescription(value['description'], `${place}.description`)
  const read = tools.map((each: unknown, index) => readInner(each, `${place}.tools[${index}]`))
  return {
    name,
    ...(description !== undefined && { description }),
    tools: read.map(({ tool, named, place: inner }, index) => {
      const isDescribed = index === 0 && description
      return {
        tool: {
          ...tool,
          name: joinedName({ namespace: name, name: tool.name }),
          ...(isDescribed && { description: paragraphs(`${name}: ${description}`, tool.description) }),
        },
        named: { ...named, namespace: name },
        place: inner,
      }
    }),
  }
}

const paragraphs = (...texts: readonly (string | undefined)[]): string => texts.filter(Boolean).join('\n\n')

/** Reads a tool of type `custom`. A grammar is explained to the model; nothing enforces it. */
export function readCustomTool(value: Fields, place: string): ReadTool {
  refuseOthers(value, ['type', 'name', 'description', 'format'], place)
  const name = readToolName(value['name'], `${place}.name`)
  const { description } = readDescription(value['description'], `${place}.description`)
  const explained = paragraphs(description, readGrammar(value['format'], `${place}.format`))
  return {
    tool: {
      name,
      ...(explained !== '' && { description: explained }),
      parameters: {
        type: 'object',
        properties: { input: { type: 'string' } },
        required: ['input'],
        additionalProperties: false,
      },
      field: `${place}.format`,
    },
    named: { type: 'custom', name },
    place,
  }
}

function readGrammar(format: unknown, place: string): string | undefined {
  if (format === undefined || format === null) return undefined
  if (!isFields(format)) throw mustBe(place, 'an object of type text or grammar')
  const { type, syntax, definition } = format
  if (type !== 'text' && type !== 'grammar') throw mustBe(`${place}.type`, 'text or grammar')
  refuseOthers(format, type === 'text' ? ['type'] : ['type', 'syntax', 'definition'], place)
  if (type === 'text') return undefined
  if (syntax !== 'lark' && syntax !== 'regex') throw mustBe(`${place}.syntax`, 'lark or regex')
  const { description: rules } = readDescription(definition, `${place}.definition`)
  if (rules === undefined) throw mustBe(`${place}.definition`, 'a text')
  const kind = syntax === 'lark' ? 'Lark grammar' : 'regular expression'
  return `The field "input" is a text that matches this ${kind}:\n${rules}`
}

/** The model's name of the search for tools. */
export const searchName = 'tool_search'

/** Reads a tool of type `tool_search`. The vendor's own search needs tools that the vendor stores. */
export function readSearchTool(value: Fields, place: string): ReadTool {
  refuseOthers(value, ['type', 'execution', 'description', 'parameters'], place)
  if (value['execution'] !== 'client') throw mustBe(`${place}.execution`, 'client: the vendor cannot search here')
  return {
    tool: {
      name: searchName,
      ...readDescription(value['description'], `${place}.description`),
      parameters: checkParameters(value['parameters'], `${place}.parameters`),
      field: `${place}.parameters`,
    },
    named: { type: 'tool_search', name: searchName },
    place,
  }
}

/** What the caller's search found, as the result that the model reads. */
export function foundText(tools: readonly ReadTool[]): string {
  if (tools.length === 0) return 'No tool was found.'
  return `These tools can be called now: ${tools.map(({ tool }) => tool.name).join(', ')}.`
}

/** The text that a model wrote as the input of a custom tool: if it is not in `input`, all that it wrote. A call that was cut off has none. */
export function customInput(json: string): string {
  const written = parsed(json)
  if (written === undefined) return ''
  const input = isFields(written) ? written['input'] : undefined
  return typeof input === 'string' ? input : json
}

/** The arguments of a search. A call that was cut off has none. */
export function searchArguments(json: string): Fields {
  const written = parsed(json)
  return isFields(written) ? written : {}
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** An entry of a list of tools without what has no effect. */
export function keptTool(value: unknown, place: string): Fields {
  const kept = withoutNeutral(value, {}, `${place}.`)
  if (isFields(kept)) return kept
  throw mustBe(place, 'an object of type function')
}
