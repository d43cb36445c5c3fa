import type { CallPart, ReplyPart, TokenLogprob } from '../../../models/conversation.ts'
import type { Reply } from '../../generation.ts'
import { logprobsOfTexts } from '../../logprobs.ts'
import { writtenLogprobs } from '../openai.ts'
import { customInput, searchArguments, type NamedTools } from './named-tools.ts'
import { reasoningItem } from './reasoning.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** The id of the item at a place of the output of a generation. */
export const itemId = (prefix: string, id: string, index: number): string =>
  index === 0 ? `${prefix}_${id}` : `${prefix}_${id}_${index}`

export const messageItem = (id: string, status: ItemStatus, content: readonly object[]) => ({
  id,
  type: 'message',
  role: 'assistant',
  status,
  content,
})

export const textPart = (text: string, logprobs: readonly TokenLogprob[] = []) => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: writtenLogprobs(logprobs),
})

/** The kinds of items of calls, with the prefixes of their ids. */
const callPrefixes = { function: 'fc', custom: 'ctc', tool_search: 'tsc' } as const

export function callItemId(generation: string, index: number, tool: string, named: NamedTools): string {
  return itemId(callPrefixes[named.get(tool)?.type ?? 'function'], generation, index)
}

/** `input`: what the model wrote as arguments. Of a call that has only begun, nothing. */
export function callItem(
  id: string,
  status: ItemStatus,
  { id: call_id, tool, input }: Omit<CallPart, 'kind'>,
  named: NamedTools,
): object {
  const { type, ...names } = named.get(tool) ?? { type: 'function', name: tool }
  switch (type) {
    case 'function':
      return { id, type: 'function_call', status, call_id, ...names, arguments: input }
    case 'custom':
      return { id, type: 'custom_tool_call', status, call_id, ...names, input: customInput(input) }
    case 'tool_search':
      return { id, type: 'tool_search_call', execution: 'client', status, call_id, arguments: searchArguments(input) }
  }
}

export function cutOff({ stopReason }: Reply): string | undefined {
  return stopReason === 'max_output_tokens' || stopReason === 'content_filter' ? stopReason : undefined
}

export const statusOf = (reply: Reply): 'completed' | 'incomplete' =>
  cutOff(reply) === undefined ? 'completed' : 'incomplete'

/** The output of a reply: an item for each part: reasoning, text or call. Only a text at the end can be incomplete. */
export function outputItems(reply: Reply, named: NamedTools): readonly object[] {
  const parts = outputParts(reply)
  const logprobs = logprobsOf(parts, reply)
  return parts.map((part, index) => {
    if (part.kind === 'reasoning') return reasoningItem(itemId('rs', reply.id, index), part)
    if (part.kind === 'call') {
      return callItem(callItemId(reply.id, index, part.tool, named), 'completed', part, named)
    }
    const status = index === parts.length - 1 ? statusOf(reply) : 'completed'
    return messageItem(itemId('msg', reply.id, index), status, [textPart(part.text, logprobs?.next().value)])
  })
}

/** Those of each text, if there are any. */
function logprobsOf(parts: readonly ReplyPart[], { logprobs }: Reply) {
  if (!logprobs) return undefined
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return logprobsOfTexts(texts, logprobs).values()
}

/** The parts of a reply. Texts in a row are one, as in a stream. */
export function outputParts({ parts, text }: Reply): readonly ReplyPart[] {
  if (parts === undefined) return [{ kind: 'text', text }]
  const joined: ReplyPart[] = []
  for (const part of parts) {
    const before = joined.at(-1)
    if (part.kind === 'text' && before?.kind === 'text') {
      joined[joined.length - 1] = { kind: 'text', text: before.text + part.text }
    } else joined.push(part)
  }
  return joined
}
