import OpenAI from 'openai'
import type { FilePart, Message, Part, Prompt, TextPart } from '../../src/models/conversation.ts'
import type { Json } from './json.ts'

/** A client of OpenAI's responses: how it writes items and tools, and what it reads from a stream. */

/** An item of the input. */
export function responseItem(role: Message['role'], part: Part): Json {
  switch (part.kind) {
    case 'text': {
      const type = role === 'assistant' ? 'output_text' : 'input_text'
      return { type: 'message', role, content: [{ type, text: part.text }] }
    }
    case 'reasoning': {
      const { text, signature, redacted } = part
      const summary = text === '' ? [] : [{ type: 'summary_text', text }]
      return {
        type: 'reasoning',
        id: 'rs_1',
        summary,
        encrypted_content: redacted ? `redacted:${signature}` : signature,
      }
    }
    case 'call':
      return { type: 'function_call', call_id: part.id, name: part.tool, arguments: part.input }
    case 'result':
      return { type: 'function_call_output', call_id: part.callId, output: part.content.map(shownPart) }
    case 'file':
      return { type: 'message', role, content: [shownPart(part)] }
  }
}

function shownPart(part: TextPart | FilePart): Json {
  if (part.kind === 'text') return { type: 'input_text', text: part.text }
  const { mediaType, data, name, detail } = part
  const url = `data:${mediaType};base64,${data}`
  return mediaType.startsWith('image/')
    ? { type: 'input_image', image_url: url, ...(detail && { detail }) }
    : { type: 'input_file', file_data: url, ...(name !== undefined && { filename: name }) }
}

/** The fields of a prompt besides its messages. */
export function responseFields({ tools, toolChoice, parallelCalls, format }: Omit<Prompt, 'messages'>): Json {
  const { schema } = format?.kind === 'schema' ? format : {}
  return {
    ...(tools && { tools: tools.map((tool) => ({ type: 'function', ...tool, cache: undefined, field: undefined })) }),
    ...(toolChoice && {
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.tool },
    }),
    ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'reply', schema } } }),
  }
}

/** What the official client reads from these events: the items as they ended, and the response at the end. */
export async function receiveResponse(events: string) {
  const answer = () => Promise.resolve(new Response(events, { headers: { 'content-type': 'text/event-stream' } }))
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://vendor.test/v1', fetch: answer, maxRetries: 0 })
  const ended: OpenAI.Responses.ResponseOutputItem[] = []
  const deltas: string[] = []
  const stream = client.responses.stream({ model: 'fast', input: 'x' })
  for await (const event of stream) {
    if (event.type === 'response.output_item.done') ended[event.output_index] = event.item
    if ('delta' in event && 'output_index' in event)
      deltas[event.output_index] = (deltas[event.output_index] ?? '') + event.delta
  }
  return { ended, deltas, final: await stream.finalResponse() }
}
