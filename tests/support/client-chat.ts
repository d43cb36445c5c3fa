import type { FilePart, Message, Part, Prompt, TextPart, Tool } from '../../src/models/conversation.ts'
import { chunksOf } from './scripted-reply.ts'
import { at, listAt, objectAt, type Json } from './json.ts'

/** A client of OpenAI's chat completions: how it writes turns and tools, and what it collects from a stream. */

/** A turn of the user or the system: a message for each result, then what else there is. */
export function chatMessages(role: Message['role'], parts: readonly Part[]): readonly Json[] {
  const results = parts.filter((part) => part.kind === 'result')
  const rest = parts.filter((part) => part.kind === 'text' || part.kind === 'file')
  return [
    ...results.map(({ callId, content }) => ({
      role: 'tool',
      tool_call_id: callId,
      content: content.map(contentPart),
    })),
    ...(rest.length > 0 ? [{ role, content: rest.map(contentPart) }] : []),
  ]
}

function contentPart(part: TextPart | FilePart): Json {
  const mark = part.cache && { cache_control: { type: 'ephemeral', ...part.cache } }
  if (part.kind === 'text') return { type: 'text', text: part.text, ...mark }
  const { mediaType, data, name, detail } = part
  const url = `data:${mediaType};base64,${data}`
  return mediaType.startsWith('image/')
    ? { type: 'image_url', image_url: { url, ...(detail && { detail }) }, ...mark }
    : { type: 'file', file: { file_data: url, ...(name !== undefined && { filename: name }) }, ...mark }
}

/** The fields of a prompt besides its messages. */
export function chatFields({ tools, toolChoice, parallelCalls, format }: Omit<Prompt, 'messages'>): Json {
  const { schema } = format?.kind === 'schema' ? format : {}
  return {
    ...(tools && { tools: tools.map(toolOf) }),
    ...(toolChoice && {
      tool_choice:
        typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } },
    }),
    ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'reply', schema } } }),
  }
}

const toolOf = ({ cache, name, description, parameters, strict }: Tool): Json => ({
  type: 'function',
  function: { name, description, parameters, strict },
  ...(cache && { cache_control: { type: 'ephemeral', ...cache } }),
})

/** The message that a program collects from the events of a stream. */
export function collectChat(events: string): Json {
  const deltas = chunksOf(events).map((chunk) => objectAt(chunk, 'choices', 0, 'delta'))
  const textOf = (name: string) => deltas.map(({ [name]: words }) => (typeof words === 'string' ? words : '')).join('')
  const calls: { id: unknown; type: unknown; function: { name: unknown; arguments: string } }[] = []
  for (const call of deltas.flatMap((delta) => listAt(delta, 'tool_calls'))) {
    const { name, arguments: words } = objectAt(call, 'function')
    const index = Number(at(call, 'index'))
    const known = (calls[index] ??= { id: at(call, 'id'), type: at(call, 'type'), function: { name, arguments: '' } })
    known.function.arguments += String(words)
  }
  return {
    role: 'assistant',
    content: textOf('content'),
    reasoning_content: textOf('reasoning_content'),
    reasoning_details: deltas.flatMap((delta) => listAt(delta, 'reasoning_details')),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}
