import {
  textOfMessage,
  type CacheMark,
  type FilePart,
  type Message,
  type Part,
  type Prompt,
  type Reasoning,
  type TextPart,
  type ToolChoice,
} from '../conversation.ts'

/** The fields of a request to Anthropic's API that describe a prompt. Those without a value are absent. */
export function anthropicPrompt(prompt: Prompt): object {
  const { messages, tools, format, reasoning } = prompt
  const system = messages.filter(({ role }) => role === 'system')
  return {
    ...(system.length > 0 && { system: systemOf(system) }),
    messages: messages
      .filter(({ role }) => role !== 'system')
      .map((message) => ({ role: message.role, content: contentOf(message) })),
    ...(tools && { tools: tools.map(toolOf) }),
    ...choiceOf(prompt),
    ...(reasoning && thinkingOf(reasoning)),
    ...outputOf(format, reasoning),
  }
}

/** A text, unless a place in it is marked for the cache. */
function systemOf(messages: readonly Message[]): string | readonly object[] {
  if (messages.every(({ parts }) => parts === undefined)) return messages.map(textOfMessage).join('\n')
  return messages.flatMap(({ text, parts }) => (parts ?? [{ kind: 'text', text }]).map(blockOf))
}

const contentOf = ({ text, parts }: Message): string | readonly object[] => (parts ? parts.map(blockOf) : text)

const markOf = (cache: CacheMark | undefined) => cache && { cache_control: { type: 'ephemeral', ...cache } }

function blockOf(part: Part): object {
  switch (part.kind) {
    case 'text':
      return textBlock(part)
    case 'file':
      return fileBlock(part)
    case 'reasoning': {
      const { text, signature = '', redacted } = part
      return redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking: text, signature }
    }
    case 'call': {
      const input: unknown = JSON.parse(part.input)
      return { type: 'tool_use', id: part.id, name: part.tool, input, ...markOf(part.cache) }
    }
    case 'result':
      return {
        type: 'tool_result',
        tool_use_id: part.callId,
        content: part.content.map((each) => (each.kind === 'text' ? textBlock(each) : fileBlock(each))),
        ...(part.isError && { is_error: true }),
        ...markOf(part.cache),
      }
  }
}

const textBlock = ({ text, cache }: TextPart): object => ({ type: 'text', text, ...markOf(cache) })

function fileBlock({ mediaType, data, name, cache }: FilePart): object {
  const source = { type: 'base64', media_type: mediaType, data }
  if (mediaType.startsWith('image/')) return { type: 'image', source, ...markOf(cache) }
  return { type: 'document', source, ...(name !== undefined && { title: name }), ...markOf(cache) }
}

const toolOf = ({ name, description, parameters, strict, cache }: NonNullable<Prompt['tools']>[number]) => ({
  name,
  ...(description !== undefined && { description }),
  input_schema: parameters,
  ...(strict !== undefined && { strict }),
  ...markOf(cache),
})

function choiceOf({ tools, toolChoice, parallelCalls }: Prompt) {
  if (!tools || (toolChoice === undefined && parallelCalls === undefined)) return {}
  const choice = typesOf(toolChoice)
  const single =
    toolChoice === 'none' || parallelCalls === undefined ? {} : { disable_parallel_tool_use: !parallelCalls }
  return { tool_choice: { ...choice, ...single } }
}

function typesOf(choice: ToolChoice = 'auto') {
  if (typeof choice === 'object') return { type: 'tool', name: choice.tool }
  return { type: choice === 'required' ? 'any' : choice }
}

function thinkingOf({ effort, budgetTokens, summary }: Reasoning) {
  const display = summary && { display: 'summarized' }
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  if (budgetTokens !== undefined) return { thinking: { type: 'enabled', budget_tokens: budgetTokens, ...display } }
  return { thinking: { type: 'adaptive', ...display } }
}

/** Its lowest effort is `low`. */
function outputOf(format: Prompt['format'], { effort }: Reasoning = {}) {
  const schema = format?.kind === 'schema' && { format: { type: 'json_schema', schema: format.schema } }
  const work = effort !== undefined && effort !== 'none' && { effort: effort === 'minimal' ? 'low' : effort }
  return schema || work ? { output_config: { ...work, ...schema } } : {}
}
