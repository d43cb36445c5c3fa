import { frame, json, namedFrame, type Dialect } from './vendor-frames.ts'
import { countsOf, promptTokens, textOf, tokensOf, type VendorOptions } from './vendor-options.ts'

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
          message: { role: 'assistant', content: textOf(options) },
          finish_reason: finishReasonOf(options),
          ...stopOf(options),
        },
      ],
      ...(options.usage === null || options.usageOn === 'none' ? {} : { usage: usageOf(options) }),
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
      })
    const [all, several] = [usageOn === 'all', ['all', 'several', 'first'].includes(usageOn)]
    return {
      head: [chunk(delta({ role: 'assistant', content: '' }), 0, several)],
      tokens: tokens.map((content, index) => chunk(delta({ content }), index + 1, all)),
      finish: [
        chunk(delta({}, finishReasonOf(options), stopOf(options)), tokens.length, all || usageOn === 'several'),
        ...(['last', 'all', 'several'].includes(usageOn) ? [chunk([], tokens.length, true)] : []),
      ],
      terminal: Buffer.from('data: [DONE]\n\n'),
    }
  },
}

/** OpenAI's responses. */
export const responses: Dialect<VendorOptions> = {
  path: '/v1/responses',
  whole: (options) => json(response(options, 'completed')),
  frames(options) {
    const where = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const item = { ...message(options), status: 'in_progress', content: [] }
    return {
      head: [
        namedFrame('response.created', { response: { ...response(options, 'in_progress'), output: [] } }),
        namedFrame('response.output_item.added', { output_index: 0, item }),
      ],
      tokens: tokensOf(options).map((delta) => namedFrame('response.output_text.delta', { ...where, delta })),
      finish: [namedFrame('response.output_item.done', { output_index: 0, item: message(options) })],
      terminal: namedFrame(terminalOf(options), { response: response(options, 'completed') }),
    }
  },
}

const delta = (content: object, finish: string | null = null, more: object = {}) => [
  { index: 0, delta: content, finish_reason: finish, ...more },
]

const stopOf = ({ matchedStop }: VendorOptions): object =>
  matchedStop === undefined ? {} : { stop_reason: matchedStop }

const finishReasonOf = ({ finishReason = 'stop' }: VendorOptions): string | null => finishReason

const terminalOf = (options: VendorOptions): string =>
  finishReasonOf(options) === 'stop' ? 'response.completed' : 'response.incomplete'

function usageOf(options: VendorOptions, generated?: number): unknown {
  const { output } = countsOf(options)
  const whole = generated === undefined || generated === tokensOf(options).length
  if (whole && options.usage !== undefined && options.usage !== null) return options.usage
  const completion = whole ? output : generated
  return { prompt_tokens: promptTokens, completion_tokens: completion, total_tokens: promptTokens + completion }
}

function message(options: VendorOptions) {
  return {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: textOf(options) ?? '', annotations: [] }],
  }
}

function response(options: VendorOptions, status: string) {
  const { input, output } = countsOf(options)
  const reasons: Record<string, string> = { length: 'max_output_tokens', content_filter: 'content_filter' }
  const reason = reasons[finishReasonOf(options) ?? '']
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model: 'm',
    output: [message(options)],
    incomplete_details: reason === undefined ? null : { reason },
    usage:
      options.usage === null || options.usageOn === 'none'
        ? null
        : { input_tokens: input, output_tokens: output, total_tokens: input + output },
  }
}
