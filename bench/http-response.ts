/** A complete response. */
export interface Response {
  readonly status: number
  readonly body: Buffer
}

const blankLine = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/**
 * Reads one HTTP/1.1 response with a Content-Length or a chunked body; `undefined` while it is incomplete. A library's
 * HTTP client would use half of the machine, and the benchmark would measure the client.
 */
export function readResponse(received: Buffer): Response | undefined {
  const end = received.indexOf(blankLine)
  if (end === -1) return undefined
  const head = received.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  const body = received.subarray(end + blankLine.length)
  if (length !== undefined) return body.length < Number(length) ? undefined : { status, body }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, body }
  return body.subarray(-lastChunk.length).equals(lastChunk) ? { status, body: joinChunks(body) } : undefined
}

function joinChunks(body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const start = body.indexOf('\r\n', at) + 2
    const size = Number.parseInt(body.toString('latin1', at, start), 16)
    parts.push(body.subarray(start, start + size))
    at = start + size + 2
  }
  return Buffer.concat(parts)
}
