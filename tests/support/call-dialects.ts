import { listAt, at, parseObject } from './json.ts'
import type { ReceivedEvent } from './events.ts'
import type { VendorCall } from './vendor-options.ts'

/** 12 pieces of arguments. With the name of the tool, a stream of the call has 13 pieces. */
export const callPieces = ['{"zones":[', ...Array.from({ length: 10 }, (_, index) => `${index},`), '10]}']
export const vendorCall: VendorCall = { id: 'call_1', name: 'clock', input: callPieces.join(''), pieces: callPieces }

/** A request that offers a tool, in each API that has tools. */
export const callDialects = {
  '/v1/chat/completions': {
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 100,
    tools: [{ type: 'function', function: { name: 'clock', parameters: { type: 'object' } } }],
  },
  '/v1/responses': {
    input: [{ role: 'user', content: 'Hello' }],
    max_output_tokens: 100,
    tools: [{ type: 'function', name: 'clock', parameters: { type: 'object' } }],
  },
  '/v1/messages': {
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 100,
    tools: [{ name: 'clock', input_schema: { type: 'object' } }],
  },
} as const

export type CallAddress = keyof typeof callDialects
export const callAddresses: readonly CallAddress[] = ['/v1/chat/completions', '/v1/responses', '/v1/messages']

/** The piece of a call's arguments in an event; undefined if it has none. */
export function pieceIn({ data }: ReceivedEvent): string | undefined {
  if (!data.startsWith('{')) return undefined
  const event = parseObject(data)
  const ofChat = at(event, 'choices', 0, 'delta', 'tool_calls', 0, 'function', 'arguments')
  const ofResponses = event['type'] === 'response.function_call_arguments.delta' ? event['delta'] : undefined
  const piece = ofChat ?? ofResponses ?? at(event, 'delta', 'partial_json')
  return typeof piece === 'string' && piece !== '' ? piece : undefined
}

/** The name and the arguments of each call in a whole reply. */
export function callsIn(reply: unknown): readonly (readonly [name: unknown, input: unknown])[] {
  const ofChat = listAt(reply, 'choices', 0, 'message', 'tool_calls').map((call) => at(call, 'function'))
  const items = [...ofChat, ...listAt(reply, 'output'), ...listAt(reply, 'content')]
  return items.flatMap((item) => {
    const input = at(item, 'arguments') ?? at(item, 'input')
    return input === undefined
      ? []
      : [[at(item, 'name'), typeof input === 'string' ? JSON.parse(input) : input] as const]
  })
}
