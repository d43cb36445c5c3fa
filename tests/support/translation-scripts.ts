import fc from 'fast-check'
import type { FilePart, Part, ResultPart, TextPart } from '../../src/models/conversation.ts'
import { pdfOf, pngOf } from './sample-files.ts'
import { anyInput, anyMark, anyText, anyTextPart, anyTools, anyWord } from './transcripts.ts'
import type { Client, HeardUsage, Settings } from './translation-clients.ts'
import type { Upstream } from './translation-upstreams.ts'
import type { VendorCall, VendorOptions, VendorPart, VendorReasoning } from './vendor-options.ts'

/** Generated conversations between a client and a vendor. */

/** One request and its reply. */
export interface Round {
  readonly asked: readonly Part[]
  readonly reply: VendorOptions & { readonly parts: readonly VendorPart[] }
  readonly stop: 'stop' | 'length' | 'content_filter'
  readonly usage: HeardUsage
  readonly streams: boolean
  readonly cuts: readonly number[]
}

export interface Script {
  readonly settings: Settings
  readonly rounds: readonly Round[]
}

/** The parts of a reply as a conversation has them. */
export const partsOf = ({ reply }: Round): readonly Part[] =>
  reply.parts.map((part): Part => {
    if (part.kind !== 'call') return part
    return { kind: 'call', id: part.id, tool: part.name, input: part.input }
  })

const png: FilePart = {
  kind: 'file',
  mediaType: 'image/png',
  data: pngOf(3, 2).toString('base64'),
  extent: { width: 3, height: 2 },
  field: '',
}
const pdf: FilePart = {
  kind: 'file',
  mediaType: 'application/pdf',
  data: pdfOf(1).toString('base64'),
  extent: { pages: 1 },
  field: '',
  name: 'a.pdf',
}
const anyFile = fc
  .tuple(fc.constantFrom(png, pdf, { ...png, detail: 'low' as const }), anyMark)
  .map(([file, mark]): FilePart => ({ ...file, ...mark }))

/** Digits and spaces as models write them. */
const exactInputs = ['{"n": 12345678901234567890, "x": 1.0}', '{ "10" : 1e2,\n"2":-0 }', '{"a":1,"a":2}', '{}'] as const
const anyArguments = fc.oneof(
  { weight: 4, arbitrary: anyInput },
  { weight: 1, arbitrary: fc.constantFrom(...exactInputs) },
)

type Called = Pick<VendorCall, 'name' | 'input'>
type Said = VendorReasoning | { readonly kind: 'text'; readonly text: string }

const anySaid = (upstream: Upstream): fc.Arbitrary<readonly Said[]> =>
  fc.array(
    fc.oneof(
      anyText.map((text): Said => ({ kind: 'text', text })),
      anyThought(upstream),
    ),
    { maxLength: 4 },
  )

/** Empty signed reasoning is one whose text the vendor does not show. */
function anyThought({ signs }: Upstream): fc.Arbitrary<VendorReasoning> {
  if (signs === 'no') return anyText.map((text) => ({ kind: 'reasoning', text }))
  const signed = fc
    .tuple(fc.oneof(anyText, fc.constant('')), anyWord)
    .map(([text, signature]): VendorReasoning => ({ kind: 'reasoning', text, signature }))
  if (signs === 'all') return signed
  return fc.oneof(
    signed,
    anyWord.map((signature): VendorReasoning => ({ kind: 'reasoning', text: '', signature, redacted: true })),
  )
}

/** Leaves out what the two APIs cannot express: a second text or second reasoning, or two texts in a row. */
function expressible(client: Client, upstream: Upstream, said: readonly Said[]): readonly Said[] {
  const hasOneText = client.hasOneText || upstream.order === 'parts in turn'
  return said.filter((part, index) => {
    const before = said.slice(0, index).map(({ kind }) => kind)
    if (part.kind === 'reasoning') return upstream.signs !== 'no' || !before.includes('reasoning')
    return hasOneText ? !before.includes('text') : before.at(-1) !== 'text'
  })
}

/** Brings what a vendor says into an order that it can send and the client's API can express. */
function ordered(
  client: Client,
  upstream: Upstream,
  said: readonly Said[],
  calls: readonly (readonly [call: Called, place: number])[],
  round: number,
): readonly VendorPart[] {
  const inTurn = upstream.order === 'parts in turn'
  const kept = expressible(client, upstream, said)
  const parts: VendorPart[] = inTurn
    ? kept.toSorted((a, b) => Number(a.kind === 'text') - Number(b.kind === 'text'))
    : [...kept]
  const first =
    upstream.order === 'any' && !client.hasOneText ? 0 : parts.findLastIndex(({ kind }) => kind === 'text') + 1
  calls.forEach(([call, place], index) => {
    const from = inTurn ? parts.length : first + (place % (parts.length - first + 1))
    parts.splice(from, 0, { kind: 'call', id: `call_${round}_${index}`, ...call })
  })
  // A vendor signs no two parts of reasoning alike.
  return parts.map((part, index) =>
    part.kind === 'reasoning' && part.signature !== undefined
      ? { ...part, signature: `${part.signature}${index}` }
      : part,
  )
}

const anyReturned = (client: Client): fc.Arbitrary<Omit<ResultPart, 'callId' | 'kind'>> =>
  fc
    .tuple(
      fc.array(client.filesInResults ? fc.oneof(anyTextPart, anyFile) : anyTextPart, { maxLength: 2 }),
      fc.boolean(),
      anyMark,
    )
    .map(([content, failed, mark]) => ({ content, ...(failed && { isError: true as const }), ...mark }))

const anyCounts = fc.record({
  input: fc.nat(1000),
  cached: fc.nat(1000),
  written: fc.nat(1000),
  output: fc.nat(1000),
  reasoning: fc.nat(500),
})

const anyRound = (client: Client, upstream: Upstream) =>
  fc.record({
    asked: fc.array(fc.oneof({ weight: 3, arbitrary: anyTextPart }, { weight: 1, arbitrary: anyFile }), {
      maxLength: 3,
    }),
    question: anyWord,
    said: anySaid(upstream),
    otherwise: anyText,
    calls: fc.array(fc.tuple(fc.record({ name: anyWord, input: anyArguments }), fc.nat()), { maxLength: 3 }),
    returned: fc.array(anyReturned(client), { minLength: 3, maxLength: 3 }),
    stop: fc.constantFrom('stop', 'stop', 'stop', 'length', 'content_filter'),
    counts: anyCounts,
    streams: fc.boolean(),
    cuts: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
  })

type Drawn = ReturnType<typeof anyRound> extends fc.Arbitrary<infer Value> ? Value : never

const anySettings: fc.Arbitrary<Settings> = fc
  .tuple(
    fc.option(anyTextPart, { nil: undefined }),
    fc.oneof(anyTools('parameters'), fc.constant({})),
    fc.option(fc.constant(replySchema()), { nil: undefined }),
  )
  .map(([system, tools, format]) => ({ system, ...tools, ...(format && { format }) }))

function replySchema() {
  const schema = {
    type: 'object',
    properties: { answer: { type: 'string' } },
    required: ['answer'],
    additionalProperties: false,
  }
  return { kind: 'schema' as const, name: 'reply', schema, field: '' }
}

/** What a client and a vendor can say to each other through the API of each. */
export function anyScript(client: Client, upstream: Upstream): fc.Arbitrary<Script> {
  return fc
    .tuple(anySettings, fc.array(anyRound(client, upstream), { minLength: 1, maxLength: 3 }))
    .map(([settings, drawn]) => fewMarks({ settings, rounds: roundsOf(client, upstream, drawn) }))
}

function roundsOf(client: Client, upstream: Upstream, drawn: readonly Drawn[]): readonly Round[] {
  let results: readonly Part[] = []
  return drawn.map((each, round) => {
    const calls = each.calls.map(([call, place]) => [fitting(call, client, upstream, each.stop), place] as const)
    const said = ordered(client, upstream, each.said, calls, round)
    const parts = said.length > 0 ? said : [{ kind: 'text' as const, text: each.otherwise }]
    const asked = [...results, ...each.asked, { kind: 'text' as const, text: each.question }]
    const made = parts.filter((part) => part.kind === 'call')
    results = made.map(({ id }, index): Part => ({ kind: 'result', callId: id, content: [], ...each.returned[index] }))
    return { ...rest(each, parts), asked }
  })
}

/**
 * Packages and JavaScript's clients refuse or drop the name `__proto__` where they parse arguments. Packages also give `{}` to a call
 * that was cut off before its arguments, so such a call is left out of a reply that is cut off.
 */
function fitting(call: Called, client: Client, upstream: Upstream, stop: Drawn['stop']): Called {
  const { parsesInput } = upstream.form
  const isUnsafe = (client.form.parsesInput || parsesInput) && call.input.includes('__proto__')
  const looksCutOff = parsesInput && stop !== 'stop' && /^\{\s*\}$/.test(call.input)
  return isUnsafe || looksCutOff ? { ...call, input: '{"a":1}' } : call
}

function rest({ stop, counts, streams, cuts }: Drawn, parts: readonly VendorPart[]): Omit<Round, 'asked'> {
  const { input, cached, written, output, reasoning } = counts
  const [prompt, generated] = [input + cached + written, output + reasoning]
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: generated,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
  const isCalling = parts.some(({ kind }) => kind === 'call')
  const finishReason = stop === 'stop' && isCalling ? 'tool_calls' : stop
  return {
    stop,
    streams,
    cuts,
    reply: { parts, usage, finishReason },
    usage: [prompt, cached, written, generated, reasoning],
  }
}

/** Anthropic takes at most four marks. */
const mostMarks = 4

function fewMarks({ settings, rounds }: Script): Script {
  let left = mostMarks
  const few = <Marked extends { readonly cache?: unknown }>(marked: Marked): Marked =>
    marked.cache === undefined || left-- > 0 ? marked : { ...marked, cache: undefined }
  const fewIn = (part: Part): Part => {
    if (part.kind === 'reasoning') return part
    if (part.kind !== 'result') return few(part)
    const content = part.content.map((each: TextPart | FilePart) => few(each))
    return few({ ...part, content })
  }
  return {
    settings: {
      ...settings,
      system: settings.system && few(settings.system),
      ...(settings.tools && { tools: settings.tools.map(few) }),
    },
    rounds: rounds.map((round) => ({ ...round, asked: round.asked.map(fewIn) })),
  }
}
