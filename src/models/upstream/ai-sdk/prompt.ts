import type {
  FilePart,
  Part,
  PartsMessage,
  Prompt,
  ReplyFormat,
  ResultPart,
  TextMessage,
  TextPart,
  Tool,
  ToolChoice,
  VendorFields,
  WebSearch,
} from '../../conversation.ts'
import type { CallOptions, LanguageModel } from './provider.ts'
import { cacheOptions, fileOptions, requestOptions, signatureOptions, thinks, type AskedModel } from './options.ts'
import { at } from '../../../platform/text/json.ts'
import { Failure } from '../failure.ts'
import type { UpstreamRun } from '../usage.ts'
import type { RunLimits } from '../../model.ts'
import { Problem } from '../../../platform/problems.ts'

/** The model that a call is for. */
export interface CalledModel extends AskedModel {
  /** The version of its interface. */
  readonly version: LanguageModel['specificationVersion']
  /** Whether it accepts earlier reasoning. */
  readonly takesReasoning: boolean
  /** Whether the package is Anthropic's: it adds the budget for reasoning to the most tokens, and needs a schema for JSON. */
  readonly isAnthropic: boolean
}

/** The options of a call. Those of a prompt of only text have nothing but text. */
export function callOf({ prompt, limits }: UpstreamRun, called: CalledModel, abortSignal: AbortSignal): CallOptions {
  const { maxOutputTokens } = limits
  const { tools, toolChoice, format, vendorFields, search } = prompt
  const { providerOptions, addedTokens } = requestOptions(prompt, called, maxOutputTokens)
  return {
    prompt: messagesOf(prompt, called),
    maxOutputTokens: maxOutputTokens - (called.isAnthropic ? addedTokens : 0),
    temperature: limits.temperature,
    topP: limits.topP,
    seed: limits.seed,
    stopSequences: limits.stop,
    abortSignal,
    ...((tools ?? search) && {
      tools: [...(tools ?? []).map(toolOf), ...(search ? [searchOf(search, called)] : [])],
      toolChoice: choiceOf(toolChoice),
    }),
    ...(format && { responseFormat: formatOf(format, called) }),
    ...(isMore(prompt) && { providerOptions }),
    ...(vendorFields && samplingOf(vendorFields)),
  }
}

/** The interface's own names of what some vendors take. */
const samplingOf = ({
  top_k: topK,
  frequency_penalty: frequencyPenalty,
  presence_penalty: presencePenalty,
}: VendorFields) => ({ topK, frequencyPenalty, presencePenalty })

/**
 * Refuses what Anthropic's models do not take, and what its package therefore leaves out or changes without an error. Throws Problem
 * `invalid_field`.
 */
export function checkSampling({ prompt, limits }: UpstreamRun, { isAnthropic }: CalledModel): void {
  if (!isAnthropic) return
  const { temperature, topP = 1 } = limits
  const isReasoning = thinks(prompt)
  if (temperature !== undefined && temperature > 1) throw notTaken('temperature', 'at most 1 for this model')
  if (isReasoning && temperature !== undefined && temperature < 1) {
    throw notTaken('temperature', '1 or omitted if this model is to think')
  }
  if (topP < 1 && (isReasoning || temperature !== undefined)) {
    throw notTaken('top_p', `1 or omitted if this model ${isReasoning ? 'is to think' : 'is given a temperature'}`)
  }
}

/**
 * Refuses what the caller has set and a known package has left out of the body: the reply would be another. 1 is the default. Throws
 * Failure.
 */
export function requireSampling(
  body: string,
  { temperature = 1, topP = 1 }: Partial<RunLimits> = {},
  fields: VendorFields = {},
): void {
  const set = [...(temperature === 1 ? [] : ['temperature']), ...(topP === 1 ? [] : ['top_p']), ...Object.keys(fields)]
  if (set.length === 0) return
  const sent: unknown = JSON.parse(body)
  const leftOut = set.find((field) => at(sent, field) === undefined)
  if (leftOut !== undefined) throw new Failure(notTaken(leftOut, 'omitted for this model'), { health: 'unknown' })
}

const notTaken = (field: string, what: string): Problem =>
  new Problem('invalid_field', `The field ${field} must be ${what}.`, { field })

const isMore = ({ reasoning, verbosity, tools, format, cacheKey, vendorFields, search }: Prompt): boolean =>
  [reasoning, verbosity, tools, format, cacheKey, vendorFields, search].some((each) => each !== undefined)

/** The search of the web that Anthropic or OpenAI runs. */
function searchOf(
  { maxUses, allowedDomains, blockedDomains, userLocation, contextSize }: WebSearch,
  { isAnthropic, version }: CalledModel,
): object {
  const location = userLocation && { userLocation: { type: 'approximate', ...userLocation } }
  const domains = { ...(allowedDomains && { allowedDomains }), ...(blockedDomains && { blockedDomains }) }
  const filters = Object.keys(domains).length > 0 && { filters: domains }
  const args = isAnthropic
    ? { maxUses, ...domains, ...location }
    : { ...filters, ...location, ...(contextSize && { searchContextSize: contextSize }) }
  return {
    type: version === 'v2' ? 'provider-defined' : 'provider',
    id: isAnthropic ? 'anthropic.web_search_20250305' : 'openai.web_search',
    name: 'web_search',
    args,
  }
}

function toolOf({ name, description, parameters, strict, cache }: Tool): object {
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    inputSchema: parameters,
    ...(strict !== undefined && { strict }),
    ...cacheOptions(cache),
  }
}

function choiceOf(choice: ToolChoice | undefined): object | undefined {
  if (choice === undefined) return undefined
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool }
}

function formatOf(format: ReplyFormat, { isAnthropic }: CalledModel): object {
  if (format.kind === 'json') return isAnthropic ? { type: 'json', schema: anyObject } : { type: 'json' }
  const { name, description, schema } = format
  return { type: 'json', schema, name, ...(description !== undefined && { description }) }
}

const anyObject = { type: 'object' }

function messagesOf({ messages }: Prompt, called: CalledModel): readonly object[] {
  const tools = new Map<string, string>()
  return messages.flatMap((message) => {
    for (const part of message.parts ?? []) if (part.kind === 'call') tools.set(part.id, part.tool)
    return message.parts === undefined ? textMessage(message) : turnOf(message, called, tools)
  })
}

/** Vendors refuse a turn without anything, such as an empty text or reasoning that is not sent back. */
function textMessage({ role, text }: TextMessage): readonly object[] {
  if (isBlank(text)) return []
  return [role === 'system' ? { role, content: text } : { role, content: [{ type: 'text', text }] }]
}

const isBlank = (text: string): boolean => !/\S/.test(text)

/** Anthropic refuses empty texts, and a turn whose only texts are blank. */
function withoutBlankTexts(parts: readonly Part[]): readonly Part[] {
  const saysNothing = parts.every((part) => part.kind !== 'text' || isBlank(part.text))
  return parts.filter((part) => part.kind !== 'text' || (part.text !== '' && !saysNothing))
}

function turnOf(
  { role, parts: all }: PartsMessage,
  called: CalledModel,
  tools: ReadonlyMap<string, string>,
): readonly object[] {
  const parts = withoutBlankTexts(all)
  if (role === 'system') {
    const texts = parts.filter((part) => part.kind === 'text')
    return texts.map(({ text, cache }) => ({ role, content: text, ...cacheOptions(cache) }))
  }
  if (role === 'assistant') {
    const content = parts.flatMap((part) => assistantPart(part, called))
    return content.length > 0 ? [{ role, content }] : []
  }
  const results = parts.filter((part) => part.kind === 'result')
  // Packages differ in the files that they accept in a result.
  const rest = [...results.flatMap(({ content }) => content.filter(isFile)), ...parts.filter(isContent)]
  return [
    ...(results.length > 0 ? [{ role: 'tool', content: results.map((part) => resultOf(part, tools)) }] : []),
    ...(rest.length > 0 ? [{ role, content: rest.map((part) => contentPart(part, called)) }] : []),
  ]
}

const isFile = (part: Part): part is FilePart => part.kind === 'file'
const isContent = (part: Part): part is FilePart | TextPart => part.kind === 'file' || part.kind === 'text'

function assistantPart(part: Part, called: CalledModel): readonly object[] {
  switch (part.kind) {
    case 'text':
    case 'file':
      return [contentPart(part, called)]
    case 'reasoning':
      return called.takesReasoning ? [{ type: 'reasoning', text: part.text, ...signatureOptions(part) }] : []
    case 'call': {
      const input: unknown = JSON.parse(part.input)
      return [{ type: 'tool-call', toolCallId: part.id, toolName: part.tool, input, ...cacheOptions(part.cache) }]
    }
    case 'result':
      return []
  }
}

function contentPart(part: TextPart | FilePart, { version }: CalledModel): object {
  if (part.kind === 'text') return { type: 'text', text: part.text, ...cacheOptions(part.cache) }
  const { mediaType, data, name } = part
  return {
    type: 'file',
    mediaType,
    data: version === 'v4' ? { type: 'data', data } : data,
    ...(name !== undefined && { filename: name }),
    ...fileOptions(part),
  }
}

function resultOf({ callId, content, isError, cache }: ResultPart, tools: ReadonlyMap<string, string>): object {
  const texts = content.filter((part) => part.kind === 'text')
  return {
    type: 'tool-result',
    toolCallId: callId,
    toolName: tools.get(callId) ?? '',
    output: { type: isError ? 'error-text' : 'text', value: texts.map(({ text }) => text).join('\n') },
    ...cacheOptions(cache ?? texts.findLast((part) => part.cache)?.cache),
  }
}
