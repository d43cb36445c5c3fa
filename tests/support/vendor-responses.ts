import { json, namedFrame, type Dialect } from './vendor-frames.ts'
import {
  countsOf,
  finishReasonOf,
  partsOf,
  type PlayedPart,
  type VendorCall,
  type VendorOptions,
  type VendorReasoning,
} from './vendor-options.ts'

/** OpenAI's responses. */
export const responses: Dialect<VendorOptions> = {
  path: '/v1/responses',
  whole: (options) => json(response(options, 'completed')),
  frames(options) {
    const items = itemsOf(options)
    return {
      head: [
        namedFrame('response.created', { response: { ...response(options, 'in_progress'), output: [] } }),
        ...(items[0] ? [added(items[0], 0)] : []),
      ],
      // The end of an item and the start of the next come with the first piece of the next.
      tokens: items.flatMap((item, index) => {
        const before = items[index - 1]
        const [first = Buffer.alloc(0), ...rest] = item.pieces.map((piece) =>
          namedFrame(piece.type, { ...piece, output_index: index }),
        )
        return before
          ? [Buffer.concat([done(before, index - 1), added(item, index), first]), ...rest]
          : [first, ...rest]
      }),
      finish: items.slice(-1).map((item) => done(item, items.length - 1)),
      terminal: namedFrame(terminalOf(options), { response: response(options, 'completed') }),
    }
  },
}

interface Item {
  readonly begun: object
  readonly whole: object
  readonly pieces: readonly { readonly type: string }[]
}

const added = ({ begun }: Item, output_index: number): Buffer =>
  namedFrame('response.output_item.added', { output_index, item: begun })
const done = ({ whole }: Item, output_index: number): Buffer =>
  namedFrame('response.output_item.done', { output_index, item: whole })

const itemsOf = (options: VendorOptions): readonly Item[] => partsOf(options).map(itemOf)

function itemOf(part: PlayedPart, index: number): Item {
  switch (part.kind) {
    case 'reasoning':
      return reasoningItem(part, index)
    case 'text':
      return messageItem(part, index)
    case 'call':
      return callItem(part, index)
  }
}

function messageItem({ text, pieces }: PlayedPart & { readonly text: string }, index: number): Item {
  const common = { type: 'message', id: `msg_${index}`, role: 'assistant' }
  const content = [{ type: 'output_text', text, annotations: [] }]
  return {
    begun: { ...common, status: 'in_progress', content: [] },
    whole: { ...common, status: 'completed', content },
    pieces: pieces.map((delta) => ({
      type: 'response.output_text.delta',
      item_id: common.id,
      content_index: 0,
      delta,
    })),
  }
}

function reasoningItem({ text, signature, pieces }: PlayedPart & VendorReasoning, index: number): Item {
  const id = `rs_${index}`
  const common = { type: 'reasoning', id, ...(signature !== undefined && { encrypted_content: signature }) }
  const where = { item_id: id, summary_index: 0 }
  return {
    begun: { ...common, summary: [] },
    whole: { ...common, summary: text === '' ? [] : [{ type: 'summary_text', text }] },
    pieces: pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...where, delta })),
  }
}

function callItem({ id, name, input, pieces }: PlayedPart & VendorCall, index: number): Item {
  const common = { type: 'function_call', id: `fc_${index}`, call_id: id, name }
  return {
    begun: { ...common, status: 'in_progress', arguments: '' },
    whole: { ...common, status: 'completed', arguments: input },
    pieces: pieces.map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: common.id,
      delta,
    })),
  }
}

const isComplete = (options: VendorOptions): boolean => ['stop', 'tool_calls'].includes(finishReasonOf(options) ?? '')

const terminalOf = (options: VendorOptions): string =>
  isComplete(options) ? 'response.completed' : 'response.incomplete'

const searchesOf = ({ searches = [] }: VendorOptions): readonly object[] =>
  searches.map((type, index) => ({
    type: 'web_search_call',
    id: `ws_${index}`,
    status: 'completed',
    action: { type, ...(type === 'search' ? { query: 'q' } : { url: 'https://example.com' }) },
  }))

function response(options: VendorOptions, status: string) {
  const { input, output, cached, written, reasoning } = countsOf(options)
  const reasons: Record<string, string> = { length: 'max_output_tokens', content_filter: 'content_filter' }
  const reason = reasons[finishReasonOf(options) ?? '']
  const ofInput = {
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(written !== undefined && { cache_write_tokens: written }),
  }
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model: 'm',
    output: [...searchesOf(options), ...itemsOf(options).map(({ whole }) => whole)],
    incomplete_details: reason === undefined ? null : { reason },
    service_tier: options.serviceTier,
    usage:
      options.usage === null || options.usageOn === 'none'
        ? null
        : {
            input_tokens: input,
            input_tokens_details: ofInput,
            output_tokens: output,
            ...(reasoning !== undefined && { output_tokens_details: { reasoning_tokens: reasoning } }),
            total_tokens: input + output,
          },
  }
}
