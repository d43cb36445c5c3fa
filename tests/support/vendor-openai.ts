import { frame, json, type Dialect } from './vendor-frames.ts'
import {
  countsOf,
  finishReasonOf,
  partsOf,
  promptTokens,
  textOf,
  tokensOf,
  type PlayedPart,
  type VendorCall,
  type VendorOptions,
  type VendorReasoning,
} from './vendor-options.ts'

/** OpenAI's chat completions. */
export const chatCompletions: Dialect<VendorOptions> = {
  path: '/v1/chat/completions',
  whole: (options) =>
    json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'm',
      choices: choicesOf(options).map((choice, index) => ({
        index,
        message: messageOf(choice),
        ...logprobsOf(choice, tokensOf(choice)),
        finish_reason: finishReasonOf(choice),
        ...stopOf(choice),
      })),
      ...(options.usage === null || options.usageOn === 'none' ? {} : { usage: usageOf(options) }),
      service_tier: options.serviceTier,
    }),
  frames(options) {
    const { usageOn = options.usage === null ? 'none' : 'last' } = options
    const tokens = tokensOf(options)
    const chunk = (choices: unknown[], generated: number, has: boolean) =>
      frame({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'm',
        choices,
        usage: has ? usageOf(options, generated) : null,
        service_tier: options.serviceTier,
      })
    const [all, several] = [usageOn === 'all', ['all', 'several', 'first'].includes(usageOn)]
    return {
      head: choicesOf(options).map((_, index) =>
        chunk(delta({ role: 'assistant', content: '' }, null, { index }), 0, several),
      ),
      tokens: interleaved(
        choicesOf(options).map((choice, index) =>
          deltasOf(partsOf(choice), choice.parts !== undefined).map(({ content, generated }) =>
            chunk(delta(content, null, { index, ...logprobsOf(choice, textsIn(content)) }), generated, all),
          ),
        ),
      ),
      finish: [
        ...choicesOf(options).map((choice, index) =>
          chunk(
            delta({}, finishReasonOf(choice), { index, ...stopOf(choice) }),
            tokens.length,
            all || usageOn === 'several',
          ),
        ),
        ...(['last', 'all', 'several'].includes(usageOn) ? [chunk([], tokens.length, true)] : []),
      ],
      terminal: Buffer.from('data: [DONE]\n\n'),
    }
  },
}

const choicesOf = (options: VendorOptions): readonly VendorOptions[] => [options, ...(options.others ?? [])]

/** The first of each, the second of each, and so on. */
function interleaved<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const most = Math.max(...lists.map(({ length }) => length))
  return Array.from({ length: most }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

const delta = (content: object, finish: string | null = null, more: object = {}) => [
  { index: 0, delta: content, finish_reason: finish, ...more },
]

const textsIn = (content: object): readonly string[] =>
  'content' in content && typeof content.content === 'string' ? [content.content] : []

function logprobsOf({ logprobs = false }: VendorOptions, texts: readonly string[]): object {
  if (!logprobs) return {}
  return { logprobs: texts.length === 0 ? null : { content: texts.map(logprobOf), refusal: null } }
}

/** The log probability of a token in the stand-in's replies, beside one that it did not choose. */
export const logprobOf = (token: string) => ({
  ...probable(token, -0.25),
  top_logprobs: [probable(token, -0.25), probable('?', -1.5)],
})

const probable = (token: string, logprob: number) => ({ token, logprob, bytes: [...Buffer.from(token)] })

const stopOf = ({ matchedStop }: VendorOptions): object =>
  matchedStop === undefined ? {} : { stop_reason: matchedStop }

function messageOf(options: VendorOptions): object {
  const parts = partsOf(options)
  const reasoning = parts.filter((part) => part.kind === 'reasoning')
  const calls = parts.filter((part) => part.kind === 'call')
  const thinking = reasoning.map(({ text }) => text).join('')
  const details = options.parts ? reasoning.flatMap(detailsOf) : []
  return {
    role: 'assistant',
    content: textOf(options),
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } })),
    }),
  }
}

const format = 'anthropic-claude-v1'

/** Signed reasoning, as OpenRouter writes it. */
function detailsOf({ text, signature, redacted }: VendorReasoning): readonly object[] {
  if (signature === undefined) return []
  return [redacted ? { type: 'reasoning.encrypted', data: signature, format } : { ...textDetail, text, signature }]
}

const textDetail = { type: 'reasoning.text', format }

interface ChatPiece {
  readonly content: object
  /** The tokens of the text so far; those of calls count as all of them. */
  readonly generated: number
}

/** The pieces of all parts. The first of a call has its id and its name, the others have pieces of its arguments. */
function deltasOf(parts: readonly PlayedPart[], isSigned: boolean): readonly ChatPiece[] {
  let [generated, index] = [0, -1]
  return parts.flatMap((part): readonly ChatPiece[] => {
    if (part.kind === 'text') return part.pieces.map((content) => ({ content: { content }, generated: ++generated }))
    const contents = part.kind === 'call' ? callDeltas(part, ++index) : reasoningDeltas(part, isSigned)
    return contents.map((content) => ({ content, generated }))
  })
}

function reasoningDeltas(part: PlayedPart & VendorReasoning, isSigned: boolean): readonly object[] {
  const texts = part.pieces.map((text) => ({ content: null, reasoning_content: text }))
  const { signature } = part
  if (!isSigned || signature === undefined) return texts
  const detail = part.redacted ? { type: 'reasoning.encrypted', data: signature, format } : { ...textDetail, signature }
  return [...texts, { content: null, reasoning_details: [detail] }]
}

function callDeltas({ id, name, pieces }: PlayedPart & VendorCall, index: number): readonly object[] {
  return [
    { index, id, type: 'function', function: { name, arguments: '' } },
    ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
  ].map((call) => ({ tool_calls: [call] }))
}

function usageOf(options: VendorOptions, generated?: number): unknown {
  const { output } = countsOf(options)
  const whole = generated === undefined || generated === tokensOf(options).length
  if (whole && options.usage !== undefined && options.usage !== null) return options.usage
  const completion = whole ? output : generated
  return { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: promptTokens + completion }
}
