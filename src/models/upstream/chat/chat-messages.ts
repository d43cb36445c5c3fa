import type { CacheMark, FilePart, Message, Part, PartsMessage, ResultPart, TextPart } from '../../conversation.ts'
import { commonFields } from '../../vendor-fields.ts'
import { claudeFormat } from '../../vendors/openrouter.ts'
import type { AcceptedFields } from '../../vendors/vendor.ts'
import { vendors } from '../../vendors/vendors.ts'

const nothingElse: AcceptedFields = {
  cacheMarks: false,
  signatures: false,
  earlierReasoning: 'refused',
  penalties: true,
  logprobs: false,
  choices: false,
}

/** What a server accepts besides what all of them do, as far as the name of its model shows. */
export function acceptedBy(model: string): AcceptedFields {
  const known = vendors.filter(({ models }) => models?.test(model))
  return known.reduce<AcceptedFields>((fields, { accepts }) => ({ ...fields, ...accepts }), nothingElse)
}

/** The fields of a vendor that the model takes unless the operator says more. */
export function commonFieldsOf(model: string): readonly string[] {
  const { penalties, logprobs, choices } = acceptedBy(model)
  return [
    ...(penalties ? commonFields : []),
    ...(logprobs ? ['logprobs', 'top_logprobs'] : []),
    ...(choices ? ['n'] : []),
  ]
}

/** Appends the messages of one turn. The results of calls are messages of their own. */
export function writeTurn(messages: object[], message: Message, accepted: AcceptedFields): void {
  if (message.parts === undefined) messages.push({ role: message.role, content: message.text })
  else if (message.role === 'assistant') messages.push(assistantMessage(message, accepted))
  else writeParts(messages, message, accepted)
}

function writeParts(messages: object[], { role, parts }: PartsMessage, accepted: AcceptedFields): void {
  const results = parts.filter((part) => part.kind === 'result')
  for (const result of results) messages.push(toolMessage(result, accepted))
  // A message of a tool has only text.
  const rest = [...results.flatMap(({ content }) => content.filter(isFile)), ...parts.filter(isContent)]
  if (rest.length > 0) messages.push({ role, content: contentOf(rest, accepted) })
}

function toolMessage({ callId, content, cache }: ResultPart, accepted: AcceptedFields): object {
  const texts = content.filter((part) => part.kind === 'text')
  const last = texts.at(-1)
  const marked = cache && last ? [...texts.slice(0, -1), { ...last, cache }] : texts
  return { role: 'tool', tool_call_id: callId, content: contentOf(marked, accepted) }
}

function assistantMessage({ parts }: PartsMessage, accepted: AcceptedFields): object {
  const texts = parts.filter((part) => part.kind === 'text')
  const calls = parts.filter((part) => part.kind === 'call')
  return {
    role: 'assistant',
    // Servers accept null only beside calls.
    content: texts.length === 0 && calls.length > 0 ? null : contentOf(texts, accepted),
    ...reasoningOf(parts, accepted),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, tool, input, cache }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: input },
        ...markOf(cache, accepted),
      })),
    }),
  }
}

function reasoningOf(parts: readonly Part[], { signatures, earlierReasoning }: AcceptedFields): object {
  if (signatures) return signedReasoning(parts)
  if (earlierReasoning === 'refused' || !parts.some(({ kind }) => kind === 'call')) return {}
  const text = parts.flatMap((part) => (part.kind === 'reasoning' && !part.redacted ? [part.text] : [])).join('\n')
  return text === '' && earlierReasoning !== 'required' ? {} : { reasoning_content: text }
}

/** Claude requires its signed reasoning back with the results of its calls. OpenRouter passes them on in this form. */
function signedReasoning(parts: readonly Part[]): object {
  const format = claudeFormat
  const details = parts.flatMap((part): object[] => {
    if (part.kind !== 'reasoning' || part.signature === undefined) return []
    const { text, signature, redacted } = part
    return redacted
      ? [{ type: 'reasoning.encrypted', data: signature, format }]
      : [{ type: 'reasoning.text', text, signature, format }]
  })
  return details.length > 0 ? { reasoning_details: details } : {}
}

const isFile = (part: Part): part is FilePart => part.kind === 'file'
const isContent = (part: Part): part is FilePart | TextPart => part.kind === 'file' || part.kind === 'text'

/** A string if there is only text: some servers accept nothing else. */
function contentOf(parts: readonly (TextPart | FilePart)[], accepted: AcceptedFields): string | readonly object[] {
  const isPlain = (part: TextPart | FilePart) => part.kind === 'text' && !(accepted.cacheMarks && part.cache)
  if (!parts.every(isPlain)) return parts.map((part) => contentPart(part, accepted))
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n')
}

function contentPart(part: TextPart | FilePart, accepted: AcceptedFields): object {
  const mark = markOf(part.cache, accepted)
  if (part.kind === 'text') return { type: 'text', text: part.text, ...mark }
  const { mediaType, data, name, detail } = part
  const url = `data:${mediaType};base64,${data}`
  return mediaType.startsWith('image/')
    ? { type: 'image_url', image_url: { url, detail }, ...mark }
    : { type: 'file', file: { filename: name ?? 'document.pdf', file_data: url }, ...mark }
}

export function markOf(cache: CacheMark | undefined, { cacheMarks }: AcceptedFields): object {
  return cache && cacheMarks ? { cache_control: { type: 'ephemeral', ttl: cache.ttl } } : {}
}
