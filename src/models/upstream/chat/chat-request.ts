import type { Prompt, ReplyFormat, ToolChoice } from '../../conversation.ts'
import type { RunLimits } from '../../model.ts'
import type { AcceptedFields, RequestForm } from '../../vendors/vendor.ts'
import { openAiEffort } from '../efforts.ts'
import { acceptedBy, markOf, writeTurn } from './chat-messages.ts'
import { withOneSystem } from './request-form.ts'

/** Writes the body of a request. */
type WriteRequest = (prompt: Prompt, limits: RunLimits, stream: boolean, form: RequestForm) => string

/** The model at an upstream. */
export interface UpstreamModel {
  readonly name: string
  /** Whether the operator has stated that it can reason. Others may refuse even a request not to. */
  readonly reasons: boolean
  /** How to ask it to continue a final assistant message. Undefined if it cannot. */
  readonly prefill?: Prefill | undefined
}

/** `plain`: not at all. `prefix` and `partial`: a field of the message. `continue_final_message`: fields of the request, as vLLM has them. */
export type Prefill = 'plain' | 'prefix' | 'partial' | 'continue_final_message'

/** The requests have what the caller or the operator set, and the bound that the hold has room for. */
export function createRequestWriter({ name, reasons, prefill }: UpstreamModel): WriteRequest {
  const accepted = acceptedBy(name)
  return (prompt, limits, stream, { bound, streamOptions, oneSystem }) => {
    const { reasoning, verbosity, tools, format, cacheKey, vendorFields } = prompt
    const effort = reasoning && openAiEffort(reasoning)
    const messages = messagesOf(prompt, accepted)
    if (prompt.prefill !== undefined) markContinued(messages, prefill)
    return JSON.stringify({
      // First, so that none of them can replace what Tollgate itself writes.
      ...vendorFields,
      model: name,
      messages: oneSystem ? withOneSystem(messages) : messages,
      max_tokens: bound === 'max_tokens' ? limits.maxOutputTokens : undefined,
      max_completion_tokens: bound === 'max_completion_tokens' ? limits.maxOutputTokens : undefined,
      temperature: limits.temperature,
      top_p: limits.topP,
      seed: limits.seed,
      stop: limits.stop,
      n: limits.choices,
      logprobs: limits.logprobs === undefined ? undefined : true,
      top_logprobs: limits.logprobs || undefined,
      ...(stream && { stream: true }),
      ...(stream && streamOptions && { stream_options: { include_usage: true } }),
      ...(tools && toolFields(prompt, accepted)),
      response_format: format && formatOf(format),
      reasoning_effort: effort === 'none' && !reasons ? undefined : effort,
      verbosity,
      prompt_cache_key: cacheKey,
      ...(prompt.prefill !== undefined && prefill === 'continue_final_message' && continuing),
    })
  }
}

const continuing = { add_generation_prompt: false, continue_final_message: true }

function markContinued(messages: object[], prefill: Prefill | undefined): void {
  const last = messages.pop()
  if (last) messages.push(prefill === 'prefix' || prefill === 'partial' ? { ...last, [prefill]: true } : last)
}

function messagesOf(prompt: Prompt, accepted: AcceptedFields): object[] {
  const messages: object[] = []
  for (const message of prompt.messages) writeTurn(messages, message, accepted)
  return messages
}

/** What an upstream's chat template renders of a request. */
export interface TemplateInput {
  readonly messages: readonly object[]
  readonly tools: readonly object[]
}

/** The messages and tools of a prompt, written as in a request. */
export function templateInput(prompt: Prompt, model: string): TemplateInput {
  const accepted = acceptedBy(model)
  return { messages: messagesOf(prompt, accepted), tools: toolsOf(prompt, accepted) }
}

function toolsOf({ tools = [] }: Prompt, accepted: AcceptedFields): readonly object[] {
  return tools.map(({ name, description, parameters, strict, cache }) => ({
    type: 'function',
    function: { name, description, parameters, strict },
    ...markOf(cache, accepted),
  }))
}

/** Servers refuse the choice and the parallel calls of no tools. */
function toolFields(prompt: Prompt, accepted: AcceptedFields): object {
  const { toolChoice, parallelCalls } = prompt
  return {
    tools: toolsOf(prompt, accepted),
    tool_choice: toolChoice && choiceOf(toolChoice),
    parallel_tool_calls: parallelCalls,
  }
}

function choiceOf(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } }
}

function formatOf(format: ReplyFormat): object {
  if (format.kind === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, description, schema, strict } }
}
