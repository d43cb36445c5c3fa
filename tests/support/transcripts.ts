import fc from 'fast-check'
import type {
  CacheMark,
  CallPart,
  Message,
  Part,
  Prompt,
  ReplyPart,
  ResultPart,
  TextPart,
  ThinkingPart,
  Tool,
} from '../../src/models/conversation.ts'

/** Generated conversations with tools, in the form in which dialects read them. */

/** Without NUL characters, which requests must not contain. */
export const anyText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((text) => text.replaceAll('\0', '?'))
export const anyWord = fc.stringMatching(/^[a-z]{1,8}$/)
export const anyMark: fc.Arbitrary<{ readonly cache?: CacheMark }> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constantFrom({ cache: {} }, { cache: { ttl: '5m' } }, { cache: { ttl: '1h' } }) },
)
/** Parsed once: JavaScript sorts names that are integers. */
export const anyInput = fc
  .dictionary(fc.oneof(anyWord, anyText), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  .map((input) => JSON.stringify(JSON.parse(JSON.stringify(input))))

export const anyTextPart: fc.Arbitrary<TextPart> = fc
  .tuple(anyText, anyMark)
  .map(([text, mark]) => ({ kind: 'text', text, ...mark }))
const anyThinking: fc.Arbitrary<ThinkingPart> = fc.oneof(
  anyText.map((text) => ({ kind: 'thinking', text }) as const),
  fc.tuple(fc.oneof(anyText, fc.constant('')), anyWord).map(([text, signature]) => ({
    kind: 'thinking' as const,
    text,
    signature,
  })),
  anyWord.map((signature) => ({ kind: 'thinking', text: '', signature, redacted: true }) as const),
)

const anyTool: fc.Arbitrary<Omit<Tool, 'name' | 'field'>> = fc.record(
  {
    description: anyText,
    parameters: fc
      .dictionary(anyWord, fc.constantFrom({ type: 'string' }, { type: 'array', items: { type: 'integer' } }), {
        noNullPrototype: true,
      })
      .map((properties) => ({ type: 'object', properties })),
    strict: fc.boolean(),
    cache: fc.constantFrom({}, { ttl: '1h' as const }),
  },
  { requiredKeys: ['parameters'], noNullPrototype: true },
)

/** A call before its id is known. */
type Called = Omit<CallPart, 'id' | 'kind'>
const anyCall = (marked: boolean): fc.Arbitrary<Called> =>
  fc
    .tuple(anyWord, anyInput, marked ? anyMark : fc.constant({}))
    .map(([tool, input, mark]) => ({ tool, input, ...mark }))

/** What a call returns before its id is known. */
type Returned = Omit<ResultPart, 'callId' | 'kind'>
const anyReturned: fc.Arbitrary<Returned> = fc
  .tuple(fc.array(anyTextPart, { maxLength: 2 }), fc.boolean(), anyMark)
  .map(([content, failed, mark]) => ({ content, ...(failed && { isError: true as const }), ...mark }))

/** A round: a question, and a turn of the assistant with calls that are answered. */
interface Round {
  readonly asked: readonly TextPart[]
  readonly said: readonly (TextPart | ThinkingPart)[]
  readonly calls: readonly (readonly [Called, Returned])[]
}

const anyRound: fc.Arbitrary<Round> = fc.record({
  asked: fc.array(anyTextPart, { minLength: 1, maxLength: 2 }),
  said: fc.array(fc.oneof(anyTextPart, anyThinking), { maxLength: 3 }),
  calls: fc.array(fc.tuple(anyCall(true), anyReturned), { maxLength: 3 }),
})

/** The last turn is the user's and not blank. */
const anyMessages: fc.Arbitrary<readonly Message[]> = fc
  .tuple(fc.option(anyTextPart), fc.array(anyRound, { maxLength: 4 }), anyTextPart)
  .map(([system, rounds, last]) => {
    const turns = rounds.flatMap(turnsOf)
    const messages = system ? [messageOf('system', [system]), ...turns] : turns
    return joined([...messages, messageOf('user', [last, { kind: 'text', text: 'x' }])])
  })

function turnsOf({ asked, said, calls }: Round, round: number): readonly Message[] {
  const idOf = (index: number) => `call_${round}_${index}`
  const made = calls.map(([call], index): Part => ({ kind: 'call', id: idOf(index), ...call }))
  const returned = calls.map(([, result], index): Part => ({ kind: 'result', callId: idOf(index), ...result }))
  const assistant = [...said, ...made]
  return [
    messageOf('user', asked),
    ...(assistant.length > 0 ? [messageOf('assistant', assistant)] : []),
    ...(returned.length > 0 ? [messageOf('user', returned)] : []),
  ]
}

function messageOf(role: Message['role'], parts: readonly Part[]): Message {
  const texts = parts.flatMap((part) => (part.kind === 'text' && !part.cache ? [part.text] : []))
  return texts.length === parts.length ? { role, text: texts.join('\n') } : { role, parts }
}

/** The results of calls are one turn with the user's next message. */
function joined(messages: readonly Message[]): readonly Message[] {
  return messages.reduce<readonly Message[]>((turns, message) => {
    const before = turns.at(-1)
    if (message.role !== 'user' || before?.parts?.at(-1)?.kind !== 'result') return [...turns, message]
    const parts = message.parts ?? [{ kind: 'text' as const, text: message.text }]
    return [...turns.slice(0, -1), { role: 'user', parts: [...before.parts, ...parts] }]
  }, [])
}

export const anyTools = (schemaName: string): fc.Arbitrary<Pick<Prompt, 'tools' | 'toolChoice' | 'parallelCalls'>> =>
  fc
    .uniqueArray(fc.tuple(anyWord, anyTool), { minLength: 1, maxLength: 3, selector: ([name]) => name })
    .chain((named) =>
      fc.record(
        {
          tools: fc.constant(
            named.map(([name, tool], index) => ({ name, ...tool, field: `tools[${index}].${schemaName}` })),
          ),
          toolChoice: fc.constantFrom<Prompt['toolChoice']>(
            'auto',
            'required',
            ...named.map(([name]) => ({ tool: name })),
          ),
          parallelCalls: fc.boolean(),
        },
        { requiredKeys: ['tools', 'toolChoice'], noNullPrototype: true },
      ),
    )

/** A conversation, and the tools that there are. `schemaName`: the API's name of the schema of a tool. */
export const anyTranscript = (
  schemaName: string,
): fc.Arbitrary<Pick<Prompt, 'messages' | 'tools' | 'toolChoice' | 'parallelCalls'>> =>
  fc
    .tuple(anyMessages, fc.oneof(anyTools(schemaName), fc.constant({})))
    .map(([messages, tools]) => ({ messages, ...tools }))

/** The parts of a reply with anything but text. A stream joins texts and unsigned thoughts that follow one another. */
export const anyReplyParts: fc.Arbitrary<readonly ReplyPart[]> = fc
  .array(
    fc.oneof(
      anyText.map((text): ReplyPart => ({ kind: 'text', text })),
      anyThinking,
      anyCall(false).map((call): ReplyPart => ({ kind: 'call', id: '', ...call })),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) =>
    parts
      .reduce<readonly ReplyPart[]>((kept, part) => (continues(part, kept.at(-1)) ? kept : [...kept, part]), [])
      .map((part, index) => (part.kind === 'call' ? { ...part, id: `call_${index}` } : part)),
  )
  .filter((parts) => parts.some(({ kind }) => kind !== 'text'))

function continues(part: ReplyPart, before: ReplyPart | undefined): boolean {
  if (part.kind === 'text') return before?.kind === 'text'
  return part.kind === 'thinking' && !part.redacted && before?.kind === 'thinking' && before.signature === undefined
}
