import type { VendorOptions } from '../tests/support/vendor-options.ts'
import { choosePorts, startPeers, upstreamUrl, type Peer, type PeerName } from './peers.ts'
import { freePort, type ServerProcess } from './server-process.ts'
import { startStreamGenerator } from './stream-generator.ts'
import type { StreamLoad, StreamResult, StreamTarget } from './stream-load.ts'
import { install, type Installation } from './tollgate.ts'

export const routes = ['direct', 'bare', 'tollgate', 'portkey'] as const
/** A route to the stand-in for a vendor: direct, or through a peer. */
export type Route = (typeof routes)[number]

/** How the stand-in streams, and the load on it. */
export type StreamRound = VendorOptions & { readonly tokens: number } & Pick<
    StreamLoad,
    'seconds' | 'connections' | 'perSecond'
  >

/** What is asked for, and what the stand-in replies in so many pieces. The first of them contains `word`, and nothing before it does. */
export interface StreamRequest {
  readonly path: string
  readonly fields: object
  readonly replyOf: (pieces: number) => VendorOptions
}

/** The stand-in, the peers in front of it and the load generator, each in its own process. */
export interface StreamStage {
  readonly installation: Installation
  readonly peers: Readonly<Record<PeerName, Peer>>
  /** The port of the inspector of Tollgate's process. */
  readonly inspectorPort: number
  /** Streams that Tollgate has served so far. */
  readonly served: number
  /** Runs a load over a route. Throws if a stream is wrong. */
  readonly play: (route: Route, round: StreamRound, request?: StreamRequest) => Promise<StreamResult>
  close(): Promise<void>
}

export const prompt = 'Rewrite this for a client: the meeting on Tuesday is moved to Thursday at ten.'

const textRequest: StreamRequest = {
  path: '/v1/chat/completions',
  fields: { messages: [{ role: 'user', content: prompt }] },
  replyOf: (tokens) => ({ tokens }),
}

/** Starts everything, with a new installation of Tollgate in a folder. */
export async function openStreamStage(folder: string): Promise<StreamStage> {
  const ports = await choosePorts()
  const inspectorPort = await freePort()
  const installation = await install(folder, { upstream: upstreamUrl(ports.vendor), accounts: 100 })
  const environment = { ...installation.environment, NODE_OPTIONS: `--inspect-port=127.0.0.1:${inspectorPort}` }
  const started: ServerProcess[] = []
  const generator = startStreamGenerator()
  const close = async (): Promise<void> => {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
  try {
    const peers = await startPeers({ folder, started }, ports, { ...installation, environment })
    // One request recorded the expected response.
    let served = 1
    const targetOf = (route: Route, { path, fields }: StreamRequest): Omit<StreamTarget, 'events'> => {
      const { port, headers, keys } =
        route === 'direct' ? { port: ports.vendor, headers: {}, keys: ['none'] } : peers[route].target
      const model = route === 'tollgate' ? 'fast' : 'm'
      const body = JSON.stringify({ model, ...fields, max_tokens: 4096, stream: true })
      return { path, port, headers, keys, body }
    }

    async function play(
      route: Route,
      { seconds, connections, perSecond, tokens, ...options }: StreamRound,
      request = textRequest,
    ): Promise<StreamResult> {
      const target = targetOf(route, request)
      const otherEvents = await configure(ports.vendor, request.replyOf(1)).then(() => countEvents(target))
      await configure(ports.vendor, { ...options, ...request.replyOf(tokens) })
      const pace = { seconds, ...(connections !== undefined && { connections }), ...(perSecond && { perSecond }) }
      const result = await generator.run({ ...target, ...pace, events: otherEvents + tokens })
      if (route === 'tollgate') served += 1 + result.streams
      if (result.wrong > 0) throw new Error(`${route}: ${result.wrong} wrong streams (${result.firstWrong})`)
      return result
    }
    return Object.freeze({
      installation,
      peers,
      inspectorPort,
      get served() {
        return served
      },
      play,
      close,
    })
  } catch (error) {
    await close()
    throw error
  }
}

/** Sets how the stand-in streams. */
async function configure(port: number, options: VendorOptions): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/control`, { method: 'PUT', body: JSON.stringify(options) })
  if (!response.ok) throw new Error(`The stand-in answers ${response.status}.`)
}

/** Requests a stream of one piece, and returns the number of its events without that piece. */
async function countEvents({ port, path, headers, keys, body }: Omit<StreamTarget, 'events'>): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[0]}`, ...headers },
    body,
  })
  const text = await response.text()
  const events = text.split('\n\n')
  const isComplete = response.status === 200 && lastEvent.test(text) && text.includes('word')
  if (!isComplete) throw new Error(`${path} answers ${response.status}: ${text}`)
  // The text ends with a blank line, so the last part is empty. One event is the piece.
  return events.length - 2
}

/** Of chat completions, and of messages. */
const lastEvent = /data: \[DONE\]\n\n$|event: message_stop\n.*\n\n$/
