import type { ReplyFormat, Tool, ToolChoice } from '../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral } from './body.ts'
import { refuseOthers } from './messages.ts'
import { readDescription, readNamedSchema, readStrict, readToolName, requireFunction } from './tool-fields.ts'
import { checkParameters, checkToolChoice, checkTools, listOfTools } from './tools.ts'

/** What the model may call and how it must reply, as responses write it. All throw Problem `invalid_field` for the first fault. */

const neutralOfTool = { allowed_callers: [['direct']], defer_loading: [false], output_schema: 'any value' } as const

/** An empty list if there are none. */
export function readTools(list: unknown): readonly Tool[] {
  const tools = listOfTools(list).map((tool, index) => readTool(tool, `tools[${index}]`))
  checkTools(tools, (index) => `tools[${index}]`)
  return tools
}

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
  const kept = withoutNeutral(text, { verbosity: ['medium'] }, 'text.')
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
