import { parseObject } from './json.ts'
import { json, namedFrame, type Dialect } from './vendor-frames.ts'
import { countsOf, finishReasonOf, partsOf, type PlayedPart, type VendorOptions } from './vendor-options.ts'

/** Anthropic's messages. Their streams report input usage first and output usage last. */
export const messages: Dialect<VendorOptions> = {
  path: '/v1/messages',
  whole: (options) => json(message(options, countsOf(options).output, contentOf(options))),
  frames(options) {
    const blocks = streamedBlocks(options)
    return {
      head: [
        namedFrame('message_start', { message: { ...message(options, 1, []), stop_reason: null } }),
        ...(blocks[0] ? [blocks[0].start] : []),
        namedFrame('ping'),
      ],
      // The end of a block and the start of the next come with the first piece of the next.
      tokens: blocks.flatMap(({ start, pieces }, index) => {
        const before = blocks[index - 1]
        const [first = Buffer.alloc(0), ...rest] = pieces
        return before ? [Buffer.concat([before.stop, start, first]), ...rest] : pieces
      }),
      finish: [
        ...(blocks.at(-1) ? [blocks.at(-1)?.stop ?? Buffer.alloc(0)] : []),
        progress(options, countsOf(options).output),
      ],
      terminal: namedFrame('message_stop'),
    }
  },
}

interface StreamedBlock {
  readonly start: Buffer
  readonly pieces: readonly Buffer[]
  readonly stop: Buffer
}

function streamedBlocks(options: VendorOptions): readonly StreamedBlock[] {
  const { output } = countsOf(options)
  const parts = partsOf(options)
  const played = parts.length > 1 ? parts.filter((part) => part.kind !== 'text' || part.pieces.length > 0) : parts
  return played.map(blockOf).map(([content_block, deltas], index) => ({
    start: namedFrame('content_block_start', { index, content_block }),
    pieces: deltas.map((delta, piece) =>
      Buffer.concat([
        namedFrame('content_block_delta', { index, delta }),
        ...(options.usageOn === 'all' && piece + 1 < output ? [progress(options, piece + 1)] : []),
      ]),
    ),
    stop: namedFrame('content_block_stop', { index }),
  }))
}

/** A block as it begins, and its deltas. */
function blockOf(part: PlayedPart): readonly [block: object, deltas: readonly object[]] {
  switch (part.kind) {
    case 'reasoning': {
      const { signature, redacted } = part
      if (redacted) return [{ type: 'redacted_thinking', data: signature }, []]
      const deltas = part.pieces.map((text) => ({ type: 'thinking_delta', thinking: text }))
      const end = signature === undefined ? [] : [{ type: 'signature_delta', signature }]
      return [{ type: 'thinking', thinking: '', signature: '' }, [...deltas, ...end]]
    }
    case 'text':
      return [{ type: 'text', text: '' }, part.pieces.map((text) => ({ type: 'text_delta', text }))]
    case 'call': {
      const deltas = ['', ...part.pieces].map((partial) => ({ type: 'input_json_delta', partial_json: partial }))
      return [{ type: 'tool_use', id: part.id, name: part.name, input: {} }, deltas]
    }
  }
}

function progress(options: VendorOptions, generated: number): Buffer {
  const { output } = countsOf(options)
  const several = ['several', 'all'].includes(options.usageOn ?? 'last')
  const end = { stop_reason: stopReasonOf(options), stop_sequence: null }
  return namedFrame('message_delta', {
    delta: generated === output ? end : { stop_reason: null, stop_sequence: null },
    usage: { ...(several && inputUsage(options)), ...outputUsage(options, generated) },
  })
}

function message(options: VendorOptions, output: number, content: readonly object[]) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: stopReasonOf(options),
    stop_sequence: null,
    ...(options.usage !== null && { usage: { ...inputUsage(options), ...outputUsage(options, output) } }),
  }
}

function contentOf(options: VendorOptions): readonly object[] {
  return partsOf(options).map((part) => {
    if (part.kind === 'text') return { type: 'text', text: part.text }
    if (part.kind === 'call') return { type: 'tool_use', id: part.id, name: part.name, input: parseObject(part.input) }
    const { text, signature = '', redacted } = part
    return redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking: text, signature }
  })
}

/** Anthropic's input tokens are those that were neither read from the cache nor written to it. */
function inputUsage(options: VendorOptions): object {
  const { input, cached, written } = countsOf(options)
  return {
    input_tokens: input - (cached ?? 0) - (written ?? 0),
    ...(written !== undefined && { cache_creation_input_tokens: written }),
    ...(cached !== undefined && { cache_read_input_tokens: cached }),
    ...options.usageFields,
  }
}

function outputUsage(options: VendorOptions, output: number): object {
  const { reasoning } = countsOf(options)
  return {
    output_tokens: output,
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

function stopReasonOf(options: VendorOptions): string | null {
  const reason = finishReasonOf(options)
  const words: Record<string, string> = {
    stop: 'end_turn',
    length: 'max_tokens',
    content_filter: 'refusal',
    tool_calls: 'tool_use',
  }
  return reason === null ? null : (words[reason] ?? reason)
}
