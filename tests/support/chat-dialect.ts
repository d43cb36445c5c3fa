import { piecesOf } from '../../src/generation/content.ts'
import { openAiChat } from '../../src/generation/dialects/openai-chat.ts'
import type { Reply } from '../../src/generation/reply.ts'
import type { Delta, ReplyPart } from '../../src/models/conversation.ts'
import { parseObject, type Json } from './json.ts'

/** The dialect of chat completions without a service: replies in its form. */

const level = { limit: 1, remaining: 1, resetSeconds: 0 }

export const chatReply = (parts: readonly ReplyPart[], changes: Partial<Reply> = {}): Reply => ({
  id: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
  model: 'fast',
  text: parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
  parts: parts.some(({ kind }) => kind !== 'text') ? parts : undefined,
  stopReason: 'complete',
  usage: { inputTokens: 10, outputTokens: 7, cachedTokens: 30, cacheWriteTokens: 5 },
  reasoningTokens: 4,
  cost: undefined,
  body: '',
  levels: { requests: level, tokens: level },
  replayed: false,
  ...changes,
})

/** The events of a streamed reply. The model writes this many characters at a time. */
export function chatEvents(body: object, reply: Reply, size = 3): string {
  const { id, model } = reply
  const writer = openAiChat.read(body).eventWriter({ id, model, inputTokens: 0 })
  const content = piecesOf(reply).flatMap((piece) =>
    piece.kind === 'text'
      ? cut(piece.text, size).map(writer.text)
      : piece.deltas.flatMap((delta) => writer.deltas(inPieces(delta, size))),
  )
  return [...writer.opening, ...content, ...writer.closing(reply)].join('')
}

/** The chunks of a stream, without the event that ends it. */
export const chunksOf = (events: string): readonly Json[] =>
  events
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => parseObject(event.slice('data: '.length)))

const cut = (text: string, size: number): readonly string[] => text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? []

function inPieces(delta: Delta, size: number): readonly Delta[] {
  if (delta.kind === 'thinking') return cut(delta.text, size).map((text) => ({ kind: 'thinking', text }))
  return delta.kind === 'input' ? cut(delta.json, size).map((json) => ({ kind: 'input', json })) : [delta]
}
