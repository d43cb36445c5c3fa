import { piecesOf } from '../../src/generation/content.ts'
import type { DialectRequest } from '../../src/generation/dialects/dialect.ts'
import type { Reply } from '../../src/generation/generation.ts'
import type { Delta, ReplyPart } from '../../src/models/conversation.ts'
import { parseObject, type Json } from './json.ts'

const level = { limit: 1, remaining: 1, resetSeconds: 0 }

/** A complete reply with these parts. */
export function replyOf(parts: readonly ReplyPart[], changes: Partial<Reply> = {}): Reply {
  return {
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
  }
}

/** The stream of a reply, in pieces of at most `size` characters. */
export function eventsOf(parsed: DialectRequest, reply: Reply, size = 3): string {
  const { id, model } = reply
  const writer = parsed.eventWriter({ id, model, inputTokens: 0 })
  const content = piecesOf(reply).flatMap((piece) =>
    piece.kind === 'text'
      ? cut(piece.text, size).map((text) => writer.text(text))
      : writer.deltas(piece.deltas.flatMap((delta) => inPieces(delta, size))),
  )
  return [...writer.opening, ...content, ...writer.closing(reply)].join('')
}

function inPieces(delta: Delta, size: number): readonly Delta[] {
  if (delta.kind === 'reasoning') return cut(delta.text, size).map((text) => ({ ...delta, text }))
  return delta.kind === 'input' ? cut(delta.json, size).map((json) => ({ ...delta, json })) : [delta]
}

const cut = (text: string, size: number): readonly string[] => text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? []

/** The chunks of a stream in the form of chat completions, without the event that ends it. */
export const chunksOf = (events: string): readonly Json[] =>
  events
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => parseObject(event.slice('data: '.length)))
