import { frame, json, type Dialect } from './vendor-frames.ts'
import {
  countsOf,
  finishReasonOf,
  piecesOfCall,
  promptTokens,
  textOf,
  thoughtsOf,
  tokensOf,
  type VendorCall,
  type VendorOptions,
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
      choices: [
        {
          index: 0,
          message: messageOf(options),
          finish_reason: finishReasonOf(options),
          ...stopOf(options),
        },
      ],
      ...(options.usage === null || options.usageOn === 'none' ? {} : { usage: usageOf(options) }),
    }),
  frames(options) {
    const { usageOn = options.usage === null ? 'none' : 'last' } = options
    const tokens = tokensOf(options)
    const { calls = [] } = options
    const chunk = (choices: unknown[], generated: number, has: boolean) =>
      frame({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'm',
        choices,
        usage: has ? usageOf(options, generated) : null,
      })
    const [all, several] = [usageOn === 'all', ['all', 'several', 'first'].includes(usageOn)]
    return {
      head: [chunk(delta({ role: 'assistant', content: '' }), 0, several)],
      tokens: [
        ...thoughtsOf(options).map((text) => chunk(delta({ content: null, reasoning_content: text }), 0, all)),
        ...tokens.map((content, index) => chunk(delta({ content }), index + 1, all)),
        ...calls.flatMap((call, index) =>
          callDeltas(call, index).map((each) => chunk(delta({ tool_calls: [each] }), tokens.length, all)),
        ),
      ],
      finish: [
        chunk(delta({}, finishReasonOf(options), stopOf(options)), tokens.length, all || usageOn === 'several'),
        ...(['last', 'all', 'several'].includes(usageOn) ? [chunk([], tokens.length, true)] : []),
      ],
      terminal: Buffer.from('data: [DONE]\n\n'),
    }
  },
}

const delta = (content: object, finish: string | null = null, more: object = {}) => [
  { index: 0, delta: content, finish_reason: finish, ...more },
]

const stopOf = ({ matchedStop }: VendorOptions): object =>
  matchedStop === undefined ? {} : { stop_reason: matchedStop }

function messageOf(options: VendorOptions): object {
  const { thinking, calls } = options
  return {
    role: 'assistant',
    content: textOf(options),
    ...(thinking !== undefined && { reasoning_content: thinking }),
    ...(calls && {
      tool_calls: calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } })),
    }),
  }
}

/** The first has the id and the name of the call, the others have pieces of its arguments. */
function callDeltas(call: VendorCall, index: number): readonly object[] {
  const { id, name } = call
  return [
    { index, id, type: 'function', function: { name, arguments: '' } },
    ...piecesOfCall(call).map((piece) => ({ index, function: { arguments: piece } })),
  ]
}

function usageOf(options: VendorOptions, generated?: number): unknown {
  const { output } = countsOf(options)
  const whole = generated === undefined || generated === tokensOf(options).length
  if (whole && options.usage !== undefined && options.usage !== null) return options.usage
  const completion = whole ? output : generated
  return { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: promptTokens + completion }
}
