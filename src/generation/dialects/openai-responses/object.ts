import { promptTokensOf } from '../../../billing/till/till.ts'
import type { Prompt, ReplyFormat, ToolChoice } from '../../../models/conversation.ts'
import type { Reply } from '../../generation.ts'
import { createdAt } from '../dialect.ts'
import { cutOff, outputItems, statusOf } from './items.ts'
import type { NamedTools } from './named-tools.ts'
import type { ResponseTools } from './tools.ts'

/** A request as its response repeats it. */
export interface RequestedResponse {
  readonly body: RepeatedFields
  /** What was read of its other fields. */
  readonly prompt: Omit<Prompt, 'messages'>
  readonly tools: ResponseTools
}

interface RepeatedFields {
  readonly instructions?: string | undefined
  readonly max_output_tokens?: number | undefined
  readonly metadata?: object | undefined
  readonly prompt_cache_key?: string | undefined
  readonly temperature?: number | undefined
  readonly top_logprobs?: number | undefined
  readonly top_p?: number | undefined
  readonly user?: string | undefined
}

export interface ResponseIds {
  readonly id: string
  readonly model: string
}

/** The response object. Without a reply, its state while the reply is generated. */
export function responseObject(
  { body, prompt, tools }: RequestedResponse,
  { id, model }: ResponseIds,
  reply?: Reply,
): object {
  const reason = reply && cutOff(reply)
  const { toolChoice, parallelCalls, format, reasoning, verbosity } = prompt
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdAt(id),
    status: reply ? statusOf(reply) : 'in_progress',
    background: false,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output: reply ? outputItems(reply, tools.named) : [],
    parallel_tool_calls: parallelCalls ?? true,
    previous_response_id: null,
    reasoning: reasoning ? { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null } : null,
    service_tier: 'default',
    store: false,
    temperature: body.temperature ?? 0,
    text: { format: format ? formatOf(format) : { type: 'text' }, ...(verbosity && { verbosity }) },
    tool_choice: choiceOf(toolChoice, tools.named),
    tools: tools.repeated,
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    ...(reply && { usage: usageOf(reply) }),
    ...(body.prompt_cache_key !== undefined && { prompt_cache_key: body.prompt_cache_key }),
    ...(body.user !== undefined && { user: body.user }),
  }
}

const choiceOf = (choice: ToolChoice = 'auto', named: NamedTools) =>
  typeof choice === 'string' ? choice : { type: named.get(choice.tool)?.type ?? 'function', name: choice.tool }

function formatOf(format: ReplyFormat): object {
  if (format.kind === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return { type: 'json_schema', name, description: description ?? null, schema, strict: strict ?? null }
}

function usageOf({ usage, reasoningTokens }: Reply): object {
  const inputTokens = promptTokensOf(usage)
  const { outputTokens, cachedTokens, cacheWriteTokens } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: inputTokens + outputTokens,
  }
}
