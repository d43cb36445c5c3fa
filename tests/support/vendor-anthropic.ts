import { json, namedFrame, type Dialect } from './vendor-frames.ts'
import { countsOf, textOf, tokensOf, type VendorOptions } from './vendor-options.ts'

/** Anthropic's messages. Their streams report input usage first and output usage last. */
export const messages: Dialect<VendorOptions> = {
  path: '/v1/messages',
  whole: (options) => json(message(options, countsOf(options).output)),
  frames(options) {
    const { input, output } = countsOf(options)
    const several = ['several', 'all'].includes(options.usageOn ?? 'last')
    const end = { stop_reason: stopReasonOf(options), stop_sequence: null }
    const progress = (generated: number) =>
      namedFrame('message_delta', {
        delta: generated === output ? end : { stop_reason: null, stop_sequence: null },
        usage: { ...(several && { input_tokens: input }), output_tokens: generated },
      })
    const tokens = tokensOf(options).map((text, index) =>
      Buffer.concat([
        namedFrame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
        ...(options.usageOn === 'all' && index + 1 < output ? [progress(index + 1)] : []),
      ]),
    )
    return {
      head: [
        namedFrame('message_start', { message: { ...message(options, 1), content: [], stop_reason: null } }),
        namedFrame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
        namedFrame('ping'),
      ],
      tokens,
      finish: [namedFrame('content_block_stop', { index: 0 }), progress(output)],
      terminal: namedFrame('message_stop'),
    }
  },
}

function message(options: VendorOptions, output: number) {
  const { input } = countsOf(options)
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: textOf(options) ?? '' }],
    stop_reason: stopReasonOf(options),
    stop_sequence: null,
    ...(options.usage !== null && { usage: { input_tokens: input, output_tokens: output } }),
  }
}

function stopReasonOf({ finishReason = 'stop' }: VendorOptions): string | null {
  const words: Record<string, string> = { stop: 'end_turn', length: 'max_tokens', content_filter: 'refusal' }
  return finishReason === null ? null : (words[finishReason] ?? finishReason)
}
