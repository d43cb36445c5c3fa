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
}

/** The requests have what the caller or the operator set, and the bound that the hold has room for. */
export function createRequestWriter({ name, reasons }: UpstreamModel): WriteRequest {
  const accepted = acceptedBy(name)
  return (prompt, limits, stream, { bound, streamOptions, oneSystem }) => {
    const { reasoning, verbosity, tools, format, cacheKey } = prompt
    const effort = reasoning && openAiEffort(reasoning)
    const messages = messagesOf(prompt, accepted)
    return JSON.stringify({
      model: name,
      messages: oneSystem ? withOneSystem(messages) : messages,
      max_tokens: bound === 'max_tokens' ? limits.maxOutputTokens : undefined,
      max_completion_tokens: bound === 'max_completion_tokens' ? limits.maxOutputTokens : undefined,
      temperature: limits.temperature,
      top_p: limits.topP,
      seed: limits.seed,
      stop: limits.stop,
      ...(stream && { stream: true }),
      ...(stream && streamOptions && { stream_options: { include_usage: true } }),
      ...(tools && toolFields(prompt, accepted)),
      response_format: format && formatOf(format),
      reasoning_effort: effort === 'none' && !reasons ? undefined : effort,
      verbosity,
      prompt_cache_key: cacheKey,
    })
  }
}

function messagesOf(prompt: Prompt, accepted: AcceptedFields): readonly object[] {
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
