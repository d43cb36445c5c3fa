import type { ServerResponse } from 'node:http'
import type { StreamFault } from './vendor-stream.ts'

type Answer = (
  response: ServerResponse,
  reply: Buffer,
  options: { readonly retryAfter?: string; readonly bodyGate?: Promise<void> },
) => void

/** Possible responses by name. Transport faults get the reply that would have been sent. */
export const answers = {
  none: (response, reply, { bodyGate }) => {
    if (bodyGate === undefined) return send(response, 200, reply)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length }).flushHeaders()
    void bodyGate.then(() => response.end(reply))
  },
  models: (response) => send(response, 200, Buffer.from('{"object":"list","data":[{"id":"m","object":"model"}]}')),
  unknown_address: (response) => refuse(response, 404, { code: 'not_found' }),
  rate_limit: (response, _, { retryAfter }) =>
    refuse(
      response,
      429,
      { code: 'rate_limit_exceeded' },
      retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    ),
  busy: (response) => refuse(response, 503, { code: 'overloaded' }, { 'retry-after': '3' }),
  server_error: (response) => refuse(response, 500, { code: 'server_error' }),
  // Real vendors quote the key, too.
  wrong_key: (response) =>
    refuse(response, 401, { code: 'invalid_api_key', message: `Wrong key ${response.req.headers.authorization}` }),
  context_length: (response) => refuse(response, 400, { code: 'context_length_exceeded' }),
  // The text of vLLM, which has no code for this.
  context_length_in_words: (response) =>
    refuse(response, 400, { code: 400, message: "This model's maximum context length is 4096 tokens." }),
  bad_request: (response) => refuse(response, 400, { code: 'unsupported_parameter' }),
  reset: (response) => response.socket?.resetAndDestroy(),
  half_body: (response, reply) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
    response.write(reply.subarray(0, reply.length / 2), () => response.socket?.destroy())
  },
  cut_json: (response, reply) => send(response, 200, reply.subarray(0, reply.length / 2)),
  html: (response) => send(response, 200, Buffer.from('<html><body>Bad gateway</body></html>'), 'text/html'),
  // A valid reply but for its size.
  oversized: (response, reply) => send(response, 200, Buffer.concat([reply, Buffer.alloc(9 * 1024 * 1024, ' ')])),
  invalid_utf8: (response, reply) =>
    send(response, 200, Buffer.from(reply.toString().replace('"content":"', '"content":"\xff'), 'latin1')),
  no_choices: (response) => send(response, 200, Buffer.from('{"choices":[]}')),
  redirect: (response) => response.writeHead(307, { location: '/v1/elsewhere' }).end(),
  stall: (response, reply) => response.writeHead(200, { 'content-length': reply.length }).flushHeaders(),
  hang: () => undefined,
} satisfies Record<string, Answer>

/** A fault of the response or of a stream in progress. */
export type Fault = keyof typeof answers | StreamFault

/** True if the fault replaces the response. */
export function isWhole(fault: Fault): fault is keyof typeof answers {
  return Object.hasOwn(answers, fault)
}

function refuse(response: ServerResponse, status: number, error: object, headers: Record<string, string> = {}): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  send(response, status, Buffer.from(JSON.stringify({ error })))
}

function send(response: ServerResponse, status: number, body: Buffer, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length }).end(body)
}
