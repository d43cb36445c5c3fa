import type { ReplyFormat, Tool, ToolChoice } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import { readCacheMark, refuseOthers } from '../messages.ts'
import { readDescription, readNamedSchema, readStrict, readToolName, requireFunction } from '../tool-fields.ts'
import { readCustomTool } from '../openai-responses/named-tools.ts'
import { customNamesIn, isCustomTool } from './custom-tools.ts'
import { checkParameters, checkSchema, checkToolChoice, checkTools, listOfTools } from '../tools.ts'

/** What the model may call, as chat completions write it. Every function throws Problem `invalid_field` for the first fault. */
interface ChatTools {
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice | undefined
  readonly parallelCalls?: boolean | undefined
}

interface ToolFields {
  readonly tools?: unknown
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: boolean
}

/** Undefined if there are no tools. */
export function readTools({
  tools: list,
  tool_choice: choice,
  parallel_tool_calls: parallelCalls,
}: ToolFields): ChatTools | undefined {
  if (list === undefined && choice === undefined) return undefined
  const tools = listOfTools(list).map((tool, index) => readTool(tool, `tools[${index}]`))
  const custom = customNamesIn(list)
  checkTools(tools, (index) => (custom.has(tools[index]?.name ?? '') ? `tools[${index}]` : `tools[${index}].function`))
  const toolChoice = choice === undefined ? undefined : readToolChoice(choice)
  checkToolChoice(toolChoice, tools, 'tool_choice.function.name')
  return tools.length === 0 ? undefined : { tools, toolChoice, parallelCalls }
}

function readTool(value: unknown, place: string): Tool {
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe(place, 'an object of type function')
  if (isCustomTool(kept)) return readCustomTool(kept, place).tool
  requireFunction(kept, place)
  refuseOthers(kept, ['type', 'function', 'cache_control'], place)
  const described = withoutNeutral(kept['function'], {})
  const inner = `${place}.function`
  if (!isFields(described)) throw mustBe(inner, 'an object with a name')
  refuseOthers(described, ['name', 'description', 'parameters', 'strict'], inner)
  const { name, description, parameters = { type: 'object', properties: {} }, strict } = described
  const cache = readCacheMark(kept['cache_control'], `${place}.cache_control`)
  return {
    name: readToolName(name, `${inner}.name`),
    ...readDescription(description, `${inner}.description`),
    parameters: checkParameters(parameters, `${inner}.parameters`),
    field: `${inner}.parameters`,
    ...readStrict(strict, `${inner}.strict`),
    ...(cache && { cache }),
  }
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (!isFields(choice)) throw mustBe('tool_choice', 'none, auto, required or an object that names a function')
  requireFunction(choice, 'tool_choice')
  const { function: chosen } = choice
  const name = isFields(chosen) ? chosen['name'] : undefined
  return { tool: readToolName(name, 'tool_choice.function.name') }
}

/** `response_format`; undefined if any text will do. */
export function readReplyFormat(value: unknown): ReplyFormat | undefined {
  if (value === undefined) return undefined
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe('response_format', 'an object with a type')
  const { type } = kept
  if (type === 'json_schema') return readSchemaFormat(kept)
  if (type !== 'text' && type !== 'json_object') {
    throw mustBe('response_format.type', 'text, json_object or json_schema')
  }
  refuseOthers(kept, type === 'text' ? ['type'] : ['type', 'schema'], 'response_format')
  if (type === 'text') return undefined
  // A schema beside json_object is how some other servers are asked for it, and Instructor asks.
  if (kept['schema'] === undefined) return { kind: 'json' }
  const field = 'response_format.schema'
  return { kind: 'schema', name: 'reply', schema: checkSchema(kept['schema'], field), field }
}

function readSchemaFormat(format: Fields): ReplyFormat {
  refuseOthers(format, ['type', 'json_schema'], 'response_format')
  const place = 'response_format.json_schema'
  const described = withoutNeutral(format['json_schema'], {})
  if (!isFields(described)) throw mustBe(place, 'an object with name and schema')
  refuseOthers(described, ['name', 'description', 'schema', 'strict'], place)
  return readNamedSchema(described, place)
}
