import {
  efforts,
  type Effort,
  type Prompt,
  type Reasoning,
  type ReplyFormat,
  type Tool,
  type WebSearch,
} from '../../../models/conversation.ts'
import { isFields, mustBe, shownName, withoutNeutral } from '../body.ts'
import type { Permissions } from '../dialect.ts'
import { messagesFields, neutralIn } from '../field-rules.ts'
import { readCacheMark, refuseOthers } from '../messages.ts'
import { readDescription, readStrict, readToolName } from '../tool-fields.ts'
import { checkParameters, checkSchema, checkToolChoice, checkTools, listOfTools } from '../tools.ts'
import { readLocation, readPlaces, readUses } from '../web-search.ts'

/** What Anthropic's API asks of a reply besides its text. Every function throws Problem `invalid_field` for the first fault. */

const neutral = neutralIn(messagesFields, 'tools[].')

/** `tools` and `tool_choice`. */
export function readAnthropicTools(
  list: unknown,
  choice: unknown,
  permitted: Permissions,
): Pick<Prompt, 'tools' | 'toolChoice' | 'parallelCalls' | 'search'> {
  if (list === undefined && choice === undefined) return {}
  const all = listOfTools(list).map((tool, index) => ({ tool, place: `tools[${index}]` }))
  const [found, another] = all.filter(({ tool }) => isFields(tool) && tool['type'] === webSearch)
  if (found && permitted.searches === true) {
    if (another) throw mustBe(another.place, 'omitted: one web search is enough')
    const rest = all.filter((each) => each !== found)
    const search = readSearch(found.tool, found.place)
    return { ...readOthers(rest, choice), search }
  }
  return readOthers(all, choice)
}

const webSearch = 'web_search_20250305'

function readSearch(value: unknown, place: string): WebSearch {
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe(place, 'an object')
  const known = ['type', 'name', 'max_uses', 'allowed_domains', 'blocked_domains', 'user_location', 'cache_control']
  refuseOthers(kept, known, place)
  if (kept['name'] !== 'web_search') throw mustBe(`${place}.name`, 'web_search')
  return {
    field: place,
    optional: false,
    maxUses: readUses(kept['max_uses'], `${place}.max_uses`),
    ...readPlaces(kept, place),
    ...readLocation(kept['user_location'], `${place}.user_location`),
  }
}

function readOthers(
  all: readonly { readonly tool: unknown; readonly place: string }[],
  choice: unknown,
): Pick<Prompt, 'tools' | 'toolChoice' | 'parallelCalls'> {
  const tools = all.map(({ tool, place }) => readTool(tool, place))
  checkTools(tools, (index) => all[index]?.place ?? 'tools')
  const chosen = choice === undefined ? {} : readChoice(choice)
  checkToolChoice(chosen.toolChoice, tools, 'tool_choice.name')
  return tools.length === 0 ? {} : { tools, ...chosen }
}

function readTool(value: unknown, place: string): Tool {
  if (!isFields(value)) throw mustBe(place, 'an object with name and input_schema')
  const { type } = value
  // The others are run by the vendor, or have names and inputs that only the vendor's models know.
  if (type !== undefined && type !== null && type !== 'custom') {
    const other = typeof type === 'string' ? shownName(type) : 'another type'
    throw mustBe(`${place}.type`, `custom: ${other} is not supported here`)
  }
  const kept = withoutNeutral(value, neutral, `${place}.`)
  if (!isFields(kept)) throw mustBe(place, 'an object with name and input_schema')
  refuseOthers(kept, ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'], place)
  const cache = readCacheMark(kept['cache_control'], `${place}.cache_control`)
  return {
    name: readToolName(kept['name'], `${place}.name`),
    ...readDescription(kept['description'], `${place}.description`),
    parameters: checkParameters(kept['input_schema'], `${place}.input_schema`),
    field: `${place}.input_schema`,
    ...readStrict(kept['strict'], `${place}.strict`),
    ...(cache && { cache }),
  }
}

const choices = { auto: 'auto', any: 'required', none: 'none' } as const

function readChoice(value: unknown): Pick<Prompt, 'toolChoice' | 'parallelCalls'> {
  const field = 'tool_choice'
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe(field, 'an object with a type')
  const { type, name, disable_parallel_tool_use: single } = kept
  refuseOthers(kept, ['type', 'disable_parallel_tool_use', ...(type === 'tool' ? ['name'] : [])], field)
  if (single !== undefined && typeof single !== 'boolean') {
    throw mustBe(`${field}.disable_parallel_tool_use`, 'true or false')
  }
  const parallelCalls = single === undefined ? {} : { parallelCalls: !single }
  if (type === 'tool') return { toolChoice: { tool: readToolName(name, `${field}.name`) }, ...parallelCalls }
  if (type === 'auto' || type === 'any' || type === 'none') return { toolChoice: choices[type], ...parallelCalls }
  throw mustBe(`${field}.type`, 'auto, any, tool or none')
}

/** `thinking`, with the effort of `output_config`. `maxTokens` is undefined in a request to count. */
export function readThinking(
  value: unknown,
  effort: Effort | undefined,
  maxTokens: number | undefined,
): Reasoning | undefined {
  const withEffort = effort === undefined ? {} : { effort }
  if (value === undefined) return effort === undefined ? undefined : withEffort
  const kept = withoutNeutral(value, {})
  if (!isFields(kept)) throw mustBe('thinking', 'an object with a type')
  const { type, budget_tokens: budgetTokens, display } = kept
  refuseOthers(kept, ['type', ...(fieldsOfThinking.get(type) ?? [])], 'thinking')
  if (type === 'disabled') return { effort: 'none' }
  if (type !== 'enabled' && type !== 'adaptive') throw mustBe('thinking.type', 'enabled, adaptive or disabled')
  if (display !== undefined && display !== 'summarized' && display !== 'omitted') {
    throw mustBe('thinking.display', 'summarized or omitted')
  }
  const rest = { ...withEffort, ...(display === 'summarized' && { summary: 'auto' as const }) }
  return type === 'adaptive' ? rest : { ...rest, budgetTokens: readBudget(budgetTokens, maxTokens) }
}

/** Whether a valid `thinking` asks for reasoning without its text. The model reasons all the same, and signs it. */
export const omitsReasoning = (thinking: unknown): boolean => isFields(thinking) && thinking['display'] === 'omitted'

const fieldsOfThinking: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['enabled', ['budget_tokens', 'display']],
  ['adaptive', ['display']],
])

const leastBudget = 1024

function readBudget(budget: unknown, maxTokens: number | undefined): number {
  const field = 'thinking.budget_tokens'
  if (typeof budget !== 'number' || !Number.isSafeInteger(budget) || budget < leastBudget) {
    throw mustBe(field, `a whole number of at least ${leastBudget}`)
  }
  if (maxTokens !== undefined && budget >= maxTokens) throw mustBe(field, 'less than max_tokens')
  return budget
}

/** `output_config`, and its former place `output_format`. */
export function readOutput(
  config: unknown,
  formerFormat: unknown,
): { readonly effort?: Effort; readonly format?: ReplyFormat } {
  const kept = withoutNeutral(config ?? {}, {})
  if (!isFields(kept)) throw mustBe('output_config', 'an object with effort or format')
  refuseOthers(kept, ['effort', 'format'], 'output_config')
  const { effort, format } = kept
  if (format !== undefined && formerFormat !== undefined) {
    throw mustBe('output_format', 'omitted if output_config.format is set')
  }
  return {
    ...(effort !== undefined && { effort: readEffort(effort) }),
    ...(format !== undefined && { format: readFormat(format, 'output_config.format') }),
    ...(formerFormat !== undefined && { format: readFormat(formerFormat, 'output_format') }),
  }
}

/** Not `none` and `minimal`: the vendor has no such efforts. */
const itsEfforts = efforts.slice(efforts.indexOf('low'))

function readEffort(value: unknown): Effort {
  const effort = itsEfforts.find((each) => each === value)
  if (effort === undefined) throw mustBe('output_config.effort', `one of ${itsEfforts.join(', ')}`)
  return effort
}

function readFormat(value: unknown, field: string): ReplyFormat {
  const kept: unknown = withoutNeutral(value, {})
  if (!isFields(kept) || kept['type'] !== 'json_schema') throw mustBe(`${field}.type`, 'json_schema')
  refuseOthers(kept, ['type', 'schema'], field)
  // Other vendors require a name. It is the same for all, so that it never changes what a cache has.
  return {
    kind: 'schema',
    name: 'reply',
    schema: checkSchema(kept['schema'], `${field}.schema`),
    field: `${field}.schema`,
  }
}
