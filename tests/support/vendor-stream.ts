import type { ServerResponse } from 'node:http'
import type { Frames } from './vendor-frames.ts'
import type { VendorOptions } from './vendor-options.ts'

type Break = (response: ServerResponse, frames: Frames, after: number) => void

const megabytes = 5 * 1024 * 1024

/** Faults of a stream after some tokens, by name. */
export const streamFaults = {
  reset: (response) => response.write('', () => response.socket?.resetAndDestroy()),
  /** Ends cleanly in the middle of an event. */
  half_stream: (response, { tokens, finish }, after) => {
    const next = tokens[after] ?? finish[0]
    response.end(next?.subarray(0, next.length / 2))
  },
  /** Sends the finish reason but no terminal event. */
  no_terminal: (response, { finish }) => response.end(Buffer.concat(finish)),
  /** Sends the terminal event but no finish reason. */
  no_finish: (response, { terminal }) => response.end(terminal),
  /** Sends neither, and no partial event. */
  early_end: (response) => response.end(),
  malformed_event: (response, frames) => response.end(rest(Buffer.from('data: {"choices":[{"delta"\n\n'), frames)),
  odd_event: (response, frames) => response.end(rest(Buffer.from('data: {"choices":7}\n\n'), frames)),
  error_event: (response, frames) =>
    response.end(rest(Buffer.from('data: {"error":{"message":"private words","type":"server_error"}}\n\n'), frames)),
  long_line: (response) => response.end(`data: ${'x'.repeat(megabytes)}`),
  invalid_utf8_event: (response, frames) =>
    response.end(rest(Buffer.from('data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n', 'latin1'), frames)),
  stall: () => undefined,
} satisfies Record<string, Break>

export type StreamFault = keyof typeof streamFaults

const rest = (event: Buffer, { finish, terminal }: Frames): Buffer => Buffer.concat([event, ...finish, terminal])

/** Sends a stream at its pace. All streams share their buffers, so thousands at a time are cheap. */
export function play(response: ServerResponse, frames: Frames, options: VendorOptions, fault: StreamFault | undefined) {
  const { after = frames.tokens.length, tokensPerSecond } = options
  const tokens = fault === undefined ? frames.tokens : frames.tokens.slice(0, after)
  const end = () => {
    if (fault !== undefined) return streamFaults[fault](response, frames, tokens.length)
    for (const event of frames.finish) response.write(event)
    response.end(frames.terminal)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  if (options.cut !== undefined) return playCut(response, Buffer.concat([...frames.head, ...tokens]), options.cut, end)
  for (const event of frames.head) response.write(event)
  if (options.gate) return void playGated(response, tokens, options.gate, end)
  if (tokensPerSecond === undefined) {
    for (const event of tokens) response.write(event)
    return end()
  }
  playPaced(response, tokens, tokensPerSecond, end)
}

/** Sends each token when it is due, even if the timer is late. */
function playPaced(response: ServerResponse, tokens: readonly Buffer[], perSecond: number, end: () => void): void {
  const began = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * perSecond) / 1000)
    for (; sent < Math.min(due, tokens.length); sent++) response.write(tokens[sent])
    if (due <= tokens.length) return
    clearInterval(timer)
    end()
  }, 1000 / perSecond)
  response.on('close', () => clearInterval(timer))
}

async function playGated(
  response: ServerResponse,
  tokens: readonly Buffer[],
  gate: (step: number) => Promise<void>,
  end: () => void,
): Promise<void> {
  for (const [index, token] of tokens.entries()) {
    await gate(index)
    if (response.destroyed) return
    response.write(token)
  }
  await gate(tokens.length)
  if (!response.destroyed) end()
}

function playCut(response: ServerResponse, bytes: Buffer, size: number, end: () => void, from = 0): void {
  if (from >= bytes.length) return end()
  response.write(bytes.subarray(from, from + size), () => playCut(response, bytes, size, end, from + size))
}
