import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { serve } from './server.ts'

interface SmsRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** An SMS gateway on a port of 127.0.0.1. It keeps what it receives and responds with `status`. */
export async function startSmsGateway() {
  const requests: SmsRequest[] = []
  const gateway = { status: 200 }
  async function accept(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push({ url: request.url ?? '', headers: request.headers, body: await text(request) })
    response.writeHead(gateway.status, { 'content-type': 'application/json' }).end('{}')
  }
  return Object.assign(gateway, await serve((request, response) => void accept(request, response)), {
    requests,
    /** The code of the last message. */
    lastCode: () => /\b\d{6}\b/.exec(decodeURIComponent(requests.at(-1)?.body ?? ''))?.[0] ?? '',
  })
}
