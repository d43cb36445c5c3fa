import type { CacheMark, FilePart, Part, TextPart, Tool } from '../../src/models/conversation.ts'
import { at, listAt, objectAt, type Json } from './json.ts'
import type { Form, Turn } from './translation-form.ts'

/** A request as a vendor understands it. */
export interface Asked {
  readonly turns: readonly Turn[]
  readonly tools: readonly unknown[]
  /** `auto`, `required`, or the name of a tool. */
  readonly choice: unknown
  readonly parallel: boolean
  readonly schema: unknown
}

/** A tool as it is compared, once it has gone through APIs of these forms. */
export const toolSeen = ({ name, description, parameters, strict, cache }: Tool, ...forms: readonly Form[]): unknown =>
  defined({ name, description, parameters, strict, ...(forms.every(({ marks }) => marks !== 'none') && { cache }) })

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const textAt = (value: unknown, ...path: readonly string[]): string => {
  const text = at(value, ...path)
  return typeof text === 'string' ? text : ''
}

const text = (words: string, cache?: CacheMark): TextPart => ({ kind: 'text', text: words, cache })

function markIn(value: unknown): CacheMark | undefined {
  const mark = at(value, 'cache_control')
  if (mark === undefined) return undefined
  const ttl = at(mark, 'ttl')
  return ttl === '5m' || ttl === '1h' ? { ttl } : {}
}

function file(url: string, more: Partial<FilePart>): FilePart {
  const [, mediaType = '', data = ''] = /^data:(.*);base64,(.*)$/.exec(url) ?? []
  return { kind: 'file', mediaType, data, extent: { pages: 1 }, field: '', ...more }
}

function roleOf(value: unknown): Turn['role'] {
  if (value === 'developer') return 'system'
  return value === 'system' || value === 'assistant' ? value : 'user'
}

// ---- Chat completions

export function readChat(body: Json): Asked {
  const choice = at(body, 'tool_choice')
  return {
    turns: listAt(body, 'messages').map(chatTurn),
    tools: listAt(body, 'tools').map((tool) => defined({ ...functionIn(tool), cache: markIn(tool) })),
    choice: at(choice, 'function', 'name') ?? choice,
    parallel: at(body, 'parallel_tool_calls') !== false,
    schema: at(body, 'response_format', 'json_schema', 'schema'),
  }
}

function functionIn(tool: unknown): object {
  const { name, description, parameters, strict } = objectAt(tool, 'function')
  return { name, description, parameters, strict }
}

function chatTurn(message: unknown): Turn {
  const role = at(message, 'role')
  const content = at(message, 'content')
  const shown = typeof content === 'string' ? (content === '' ? [] : [text(content)]) : listAt(content).map(chatPart)
  if (role === 'tool') {
    const texts = shown.filter((part) => part.kind === 'text')
    return { role: 'user', parts: [{ kind: 'result', callId: textAt(message, 'tool_call_id'), content: texts }] }
  }
  const calls = listAt(message, 'tool_calls').map((call): Part => ({
    kind: 'call',
    id: textAt(call, 'id'),
    tool: textAt(call, 'function', 'name'),
    input: textAt(call, 'function', 'arguments'),
    cache: markIn(call),
  }))
  return { role: roleOf(role), parts: [...chatThoughts(message), ...shown, ...calls] }
}

function chatPart(part: unknown): TextPart | FilePart {
  const cache = markIn(part)
  if (at(part, 'type') === 'text') return text(textAt(part, 'text'), cache)
  const image = at(part, 'image_url')
  if (image === undefined) {
    return file(textAt(part, 'file', 'file_data'), { name: textAt(part, 'file', 'filename'), cache })
  }
  const detail = at(image, 'detail')
  return file(textAt(image, 'url'), { cache, detail: detail === 'low' || detail === 'high' ? detail : undefined })
}

function chatThoughts(message: unknown): readonly Part[] {
  const content = at(message, 'reasoning_content')
  if (typeof content === 'string') return [{ kind: 'reasoning', text: content }]
  return listAt(message, 'reasoning_details').map((detail) =>
    at(detail, 'type') === 'reasoning.encrypted'
      ? { kind: 'reasoning', text: '', signature: textAt(detail, 'data'), redacted: true }
      : { kind: 'reasoning', text: textAt(detail, 'text'), signature: textAt(detail, 'signature') },
  )
}

// ---- Messages

export function readMessages(body: Json): Asked {
  const choice = at(body, 'tool_choice')
  const type = at(choice, 'type')
  const system = listAt(body, 'system')
  return {
    turns: [
      ...(system.length > 0 ? [{ role: 'system' as const, parts: system.map(block) }] : []),
      ...listAt(body, 'messages').map((message) => ({
        role: roleOf(at(message, 'role')),
        parts: listAt(message, 'content').map(block),
      })),
    ],
    tools: listAt(body, 'tools').map((tool) => {
      const { name, description, input_schema: parameters, strict } = objectAt(tool)
      return defined({ name, description, parameters, strict, cache: markIn(tool) })
    }),
    choice: at(choice, 'name') ?? (type === 'any' ? 'required' : type),
    parallel: at(choice, 'disable_parallel_tool_use') !== true,
    schema: at(body, 'output_config', 'format', 'schema') ?? at(body, 'output_format', 'schema'),
  }
}

function block(value: unknown): Part {
  const cache = markIn(value)
  switch (at(value, 'type')) {
    case 'text':
      return text(textAt(value, 'text'), cache)
    case 'thinking':
      return { kind: 'reasoning', text: textAt(value, 'thinking'), signature: textAt(value, 'signature') }
    case 'redacted_thinking':
      return { kind: 'reasoning', text: '', signature: textAt(value, 'data'), redacted: true }
    case 'tool_use': {
      const [id, tool] = [textAt(value, 'id'), textAt(value, 'name')]
      return { kind: 'call', id, tool, input: JSON.stringify(at(value, 'input')), cache }
    }
    case 'tool_result': {
      const words = textAt(value, 'content')
      const isError = at(value, 'is_error') === true || undefined
      const content = words === '' ? [] : [text(words)]
      return { kind: 'result', callId: textAt(value, 'tool_use_id'), content, isError, cache }
    }
    default: {
      const source = at(value, 'source')
      const url = `data:${textAt(source, 'media_type')};base64,${textAt(source, 'data')}`
      return file(url, { name: textAt(value, 'title') || undefined, cache })
    }
  }
}

// ---- Responses

export function readResponses(body: Json): Asked {
  const choice = at(body, 'tool_choice')
  return {
    turns: listAt(body, 'input').map(itemTurn),
    tools: listAt(body, 'tools').map((tool) => {
      const { name, description, parameters, strict } = objectAt(tool)
      return defined({ name, description, parameters, strict })
    }),
    choice: at(choice, 'name') ?? at(choice, 'tools', 0, 'name') ?? choice,
    parallel: at(body, 'parallel_tool_calls') !== false,
    schema: at(body, 'text', 'format', 'schema'),
  }
}

function itemTurn(item: unknown): Turn {
  switch (at(item, 'type')) {
    case 'reasoning': {
      const paragraphs = listAt(item, 'summary').map((part) => textAt(part, 'text'))
      const signature = textAt(item, 'encrypted_content')
      return { role: 'assistant', parts: [{ kind: 'reasoning', text: paragraphs.join('\n\n'), signature }] }
    }
    case 'function_call': {
      const [id, tool, input] = [textAt(item, 'call_id'), textAt(item, 'name'), textAt(item, 'arguments')]
      return { role: 'assistant', parts: [{ kind: 'call', id, tool, input }] }
    }
    case 'function_call_output': {
      const words = textAt(item, 'output')
      const content = words === '' ? [] : [text(words)]
      return { role: 'user', parts: [{ kind: 'result', callId: textAt(item, 'call_id'), content }] }
    }
    default: {
      const [role, content] = [roleOf(at(item, 'role')), at(item, 'content')]
      return { role, parts: typeof content === 'string' ? [text(content)] : listAt(content).map(itemPart) }
    }
  }
}

function itemPart(part: unknown): Part {
  const type = at(part, 'type')
  if (type === 'input_file') return file(textAt(part, 'file_data'), { name: textAt(part, 'filename') })
  if (type !== 'input_image') return text(textAt(part, 'text'))
  const detail = at(part, 'detail')
  return file(textAt(part, 'image_url'), { detail: detail === 'low' || detail === 'high' ? detail : undefined })
}
