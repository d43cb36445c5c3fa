import type { Tool } from '../../models/conversation.ts'
import { mustBe, type Fields } from './body.ts'
import { refuseOthers } from './messages.ts'
import { readDescription, readToolName } from './tool-fields.ts'

/** Functions that responses group by namespace. Models know each by one name, as chat completions have no namespaces. */

/** A function as responses name it. */
export interface SpacedName {
  readonly namespace: string
  readonly name: string
}

/** How responses name the functions in namespaces, by the names that models know. */
export type SpacedNames = ReadonlyMap<string, SpacedName>

export const joinedName = ({ namespace, name }: SpacedName): string => `${namespace}__${name}`

export interface Namespace {
  readonly name: string
  readonly description?: string
  /** With their own names. */
  readonly functions: readonly Tool[]
}

/** Reads a tool of type `namespace`. Throws Problem `invalid_field` for the first fault. */
export function readNamespace(
  value: Fields,
  place: string,
  readFunction: (value: unknown, place: string) => Tool,
): Namespace {
  refuseOthers(value, ['type', 'name', 'description', 'tools'], place)
  const { name, description, tools } = value
  if (!Array.isArray(tools)) throw mustBe(`${place}.tools`, 'a list of functions')
  return {
    name: readToolName(name, `${place}.name`),
    ...readDescription(description, `${place}.description`),
    functions: tools.map((tool: unknown, index) => readFunction(tool, `${place}.tools[${index}]`)),
  }
}

/** The functions as models know them. The first one's description begins with that of the namespace. */
export const joinedTools = ({ name: namespace, description, functions }: Namespace): readonly Tool[] =>
  functions.map((tool, index) => ({
    ...tool,
    name: joinedName({ namespace, name: tool.name }),
    ...(index === 0 &&
      description && { description: [`${namespace}: ${description}`, tool.description].filter(Boolean).join('\n\n') }),
  }))
