import { createHmac } from 'node:crypto'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { only, type FindAddresses } from '../platform/network/networks.ts'

/** In ms, for the whole exchange. */
const limit = 10_000

/** A text to send, with the id that is the same for every attempt. */
export interface WebhookDelivery {
  readonly id: string
  readonly body: string
  readonly secret: string
}

/** The value of `Tollgate-Signature` at a time, in seconds since 1970. */
function signatureOf(secret: string, body: string, seconds: number): string {
  const code = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${code}`
}

/**
 * Posts a signed delivery. Resolves with undefined for a status of 2xx, otherwise with the reason: a status such as `500`,
 * or a code such as `ECONNREFUSED`. Follows no redirects and reads no body. Connects only to addresses that `find` returns.
 */
export async function postWebhook(
  address: string,
  { id, body, secret }: WebhookDelivery,
  find: FindAddresses,
): Promise<string | undefined> {
  const url = new URL(address)
  try {
    const [found] = await find(url.hostname)
    if (found === undefined) return 'ENOTFOUND'
    const status = await exchange(
      url,
      {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Tollgate',
          'tollgate-id': id,
          'tollgate-signature': signatureOf(secret, body, Math.floor(Date.now() / 1000)),
        },
        lookup: only(found),
      },
      body,
    )
    return status >= 200 && status < 300 ? undefined : String(status)
  } catch (error) {
    return codeOf(error)
  }
}

async function exchange(url: URL, options: RequestOptions, body: string): Promise<number> {
  // On demand: importing node:http into an ES module also loads Node's own undici, for its export WebSocket.
  const begin = url.protocol === 'https:' ? requestHttps : (await import('node:http')).request
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const signal = AbortSignal.timeout(limit)
  const onReply = (reply: IncomingMessage) => {
    resolve(reply.statusCode ?? 0)
    reply.destroy()
  }
  begin(url, { ...options, signal }, onReply)
    .on('error', (error) => reject(signal.aborted ? Object.assign(error, { code: 'ETIMEDOUT' }) : error))
    .end(body)
  return promise
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'unknown'
}
