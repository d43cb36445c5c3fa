import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { chatMessages, collectChat } from '../../../tests/support/client-chat.ts'
import { chatEvents, chatReply } from '../../../tests/support/chat-dialect.ts'
import { at, listAt, objectAt, parseObject, type Json } from '../../../tests/support/json.ts'
import type { CallPart, Message, Part, ReplyPart, TextPart, ThinkingPart } from '../../models/conversation.ts'
import { openAiChat } from './openai-chat.ts'

/** Without NUL characters, which requests must not contain. */
const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => text.replaceAll('\0', '?'))
const anyName = fc.stringMatching(/^[A-Za-z0-9_-]{1,9}$/)
const anyInput = fc.dictionary(anyText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }).chain((input) =>
  // The text of a call is kept as it is, with its spaces.
  fc.constantFrom(JSON.stringify(input), JSON.stringify(input, null, 2)),
)
const anyTextPart = anyText.map((text): TextPart => ({ kind: 'text', text }))
const anyThought = fc.oneof(
  anyText.map((text): ThinkingPart => ({ kind: 'thinking', text })),
  fc.tuple(fc.oneof(anyText, fc.constant('')), anyText).map(([text, signature]): ThinkingPart => ({
    kind: 'thinking',
    text,
    signature,
  })),
  anyText.map((signature): ThinkingPart => ({ kind: 'thinking', text: '', signature, redacted: true })),
)
const anyCall = fc.tuple(anyName, anyInput).map(([tool, input]): CallPart => ({ kind: 'call', id: '', tool, input }))

/** One text, then calls, with thoughts anywhere between them: what one message of this API can have. */
const anySaid: fc.Arbitrary<readonly ReplyPart[]> = fc
  .tuple(
    fc.array(anyTextPart, { maxLength: 1 }),
    fc.array(anyCall, { maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(), anyThought), { maxLength: 3 }),
  )
  .map(([texts, calls, thoughts]) => {
    const parts: ReplyPart[] = [...texts, ...calls]
    for (const [place, thought] of thoughts) parts.splice(place % (parts.length + 1), 0, thought)
    return parts
  })
  .filter((parts) => parts.length > 0)
  .map((parts) => parts.filter((part, index) => !continuesThought(part, parts[index - 1])))

/** Streams join unsigned thoughts with what the model thinks next. */
function continuesThought(part: ReplyPart, before: ReplyPart | undefined): boolean {
  return part.kind === 'thinking' && before?.kind === 'thinking' && before.signature === undefined
}

interface Round {
  readonly asked: readonly TextPart[]
  readonly said: readonly ReplyPart[]
  readonly returned: readonly (readonly TextPart[])[]
}

const anyMarkedPart = fc
  .tuple(anyTextPart, fc.constantFrom({}, { cache: {} }, { cache: { ttl: '1h' as const } }))
  .map(([part, mark]): TextPart => ({ ...part, ...mark }))

const anyRound: fc.Arbitrary<Round> = fc.record({
  asked: fc.array(anyMarkedPart, { minLength: 1, maxLength: 2 }),
  said: anySaid,
  returned: fc.array(fc.array(anyMarkedPart, { maxLength: 2 }), { minLength: 3, maxLength: 3 }),
})

const anyMessages = fc
  .tuple(fc.option(anyMarkedPart), fc.array(anyRound, { maxLength: 4 }), anyText)
  .map(([system, rounds, last]) => [
    ...(system ? [turnOf('system', [system])] : []),
    ...joined([...rounds.flatMap(turnsOf), turnOf('user', [{ kind: 'text', text: `${last}.` }])]),
  ])

function turnsOf({ asked, said, returned }: Round, round: number): readonly Message[] {
  const parts = withIds(said, `${round}`)
  const calls = parts.filter((part) => part.kind === 'call')
  const results = calls.map(({ id }, index): Part => ({ kind: 'result', callId: id, content: returned[index] ?? [] }))
  return [
    turnOf('user', asked),
    turnOf('assistant', parts),
    ...(results.length > 0 ? [{ role: 'user', parts: results.toReversed() } as const] : []),
  ]
}

const withIds = (parts: readonly ReplyPart[], prefix: string): readonly ReplyPart[] =>
  parts.map((part, index) => (part.kind === 'call' ? { ...part, id: `call_${prefix}_${index}` } : part))

/** A turn without anything but unmarked texts is one text. */
function turnOf(role: Message['role'], parts: readonly Part[]): Message {
  const texts = parts.flatMap((part) => (part.kind === 'text' && !part.cache ? [part.text] : []))
  return texts.length === parts.length ? { role, text: texts.join('\n') } : { role, parts }
}

/** The results of calls are one turn with the user's next message. */
function joined(messages: readonly Message[]): readonly Message[] {
  return messages.reduce<readonly Message[]>((turns, message) => {
    const before = turns.at(-1)
    if (message.role !== 'user' || before?.parts?.at(-1)?.kind !== 'result') return [...turns, message]
    const parts = message.parts ?? [{ kind: 'text', text: message.text }]
    return [...turns.slice(0, -1), { role: 'user', parts: [...before.parts, ...parts] }]
  }, [])
}

// ---- Conversations in the form of this API

function messagesOf({ role, text, parts }: Message): readonly Json[] {
  if (!parts) return [{ role, content: text }]
  return role === 'assistant' ? [assistantOf(parts)] : chatMessages(role, parts)
}

function assistantOf(parts: readonly Part[]): Json {
  const calls = parts.filter((part) => part.kind === 'call')
  const texts = parts.filter((part) => part.kind === 'text').map(({ text }) => text)
  const details = parts.flatMap((part, index) => (part.kind === 'thinking' ? [detailOf(part, index)] : []))
  return {
    role: 'assistant',
    content: texts[0] ?? (calls.length > 0 ? null : ''),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, tool, input }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: input },
      })),
    }),
  }
}

const detailOf = ({ text, signature, redacted }: ThinkingPart, index: number): Json =>
  redacted
    ? { type: 'reasoning.encrypted', data: signature, index }
    : { type: 'reasoning.text', text, index, ...(signature !== undefined && { signature }) }

const base = { model: 'fast' }
const read = (messages: readonly unknown[]): readonly Message[] =>
  openAiChat.read(parseObject(JSON.stringify({ ...base, messages }))).request.prompt.messages

// ---- Replies that are sent back

const user = { role: 'user', content: 'Hello' }

/** The turn of a reply whose message was sent back. Its calls are answered. */
function sentBack(message: Json): Message | undefined {
  const results = listAt(message, 'tool_calls').map((call) => ({
    role: 'tool',
    tool_call_id: at(call, 'id'),
    content: '',
  }))
  return read([user, message, ...results, user])[1]
}

describe('for any transcript in the form of chat completions', () => {
  test('what is read is what was written', () => {
    fc.assert(
      fc.property(anyMessages, (messages) => assert.deepEqual(read(messages.flatMap(messagesOf)), messages)),
      draws({ test: 60, endure: 5000 }),
    )
  })

  test('a reply that is sent back is the same turn, whole or streamed', () => {
    fc.assert(
      fc.property(anySaid, fc.integer({ min: 1, max: 9 }), (said, size) => {
        const parts = withIds(said, 'r')
        const reply = chatReply(parts)
        const body = { ...base, messages: [user] }
        const whole = parseObject(openAiChat.read(body).wholeBody(reply))
        const expected = turnOf('assistant', parts)
        assert.deepEqual(sentBack(objectAt(whole, 'choices', 0, 'message')), expected)
        assert.deepEqual(sentBack(collectChat(chatEvents(body, reply, size))), expected)
      }),
      draws({ test: 60, endure: 5000 }),
    )
  })
})
