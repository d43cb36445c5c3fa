import type { VendorOptions } from '../tests/support/vendor-options.ts'
import { choosePorts, startPeers, upstreamOf, type Peer, type PeerName } from './peers.ts'
import { freePort, type Process } from './processes.ts'
import { startStreamGenerator, type StreamLoad, type StreamOutcome, type StreamTarget } from './stream-load.ts'
import { install, type Installation } from './tollgate.ts'

export const roads = ['direct', 'bare', 'tollgate', 'portkey'] as const
/** A way to the stand-in of the vendor: straight, or through one of the peers. */
export type Road = (typeof roads)[number]

/** How the stand-in streams, and what is asked of it. */
export type Play = VendorOptions & { readonly tokens: number } & Pick<
    StreamLoad,
    'seconds' | 'connections' | 'perSecond'
  >

/** The stand-in, the peers in front of it and the load generator, each a process of its own. */
export interface Stage {
  readonly installation: Installation
  readonly peers: Readonly<Record<PeerName, Peer>>
  /** The inspector of Tollgate's process. */
  readonly inspectorPort: number
  /** Streams that were asked of Tollgate until now. */
  readonly asked: number
  /** Plays a load down a road. Throws when one stream is not what it has to be. */
  readonly play: (road: Road, play: Play) => Promise<StreamOutcome>
  close(): Promise<void>
}

const question = 'Rewrite this for a client: the meeting on Tuesday is moved to Thursday at ten.'

/** Sets the stage in a folder, with a fresh installation of Tollgate. */
export async function openStage(folder: string): Promise<Stage> {
  const ports = await choosePorts()
  const inspectorPort = await freePort()
  const installation = await install(folder, { upstream: upstreamOf(ports), accounts: 100 })
  const environment = { ...installation.environment, NODE_OPTIONS: `--inspect-port=127.0.0.1:${inspectorPort}` }
  const started: Process[] = []
  const generator = startStreamGenerator()
  const close = async (): Promise<void> => {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
  try {
    const peers = await startPeers(folder, ports, { ...installation, environment }, started)
    // The one that showed what Tollgate answers.
    let asked = 1
    const targetOf = (road: Road): Omit<StreamTarget, 'events'> => {
      const { port, headers, keys } =
        road === 'direct' ? { port: ports.vendor, headers: {}, keys: ['none'] } : peers[road].target
      const messages = [{ role: 'user', content: question }]
      const model = road === 'tollgate' ? 'fast' : 'm'
      const body = JSON.stringify({ model, messages, max_tokens: 4096, stream: true })
      return { path: '/v1/chat/completions', port, headers, keys, body }
    }

    async function play(road: Road, { seconds, connections, perSecond, ...options }: Play): Promise<StreamOutcome> {
      const target = targetOf(road)
      const besides = await control(ports.vendor, { tokens: 1 }).then(() => countEvents(target))
      await control(ports.vendor, options)
      const pace = { seconds, ...(connections !== undefined && { connections }), ...(perSecond && { perSecond }) }
      const outcome = await generator.run({ ...target, ...pace, events: besides + options.tokens })
      if (road === 'tollgate') asked += 1 + outcome.streams
      if (outcome.wrong > 0) throw new Error(`${road}: ${outcome.wrong} wrong streams (${outcome.firstWrong})`)
      return outcome
    }
    return Object.freeze({
      installation,
      peers,
      inspectorPort,
      get asked() {
        return asked
      },
      play,
      close,
    })
  } catch (error) {
    await close()
    throw error
  }
}

/** Tells the stand-in how to stream from now on. */
async function control(port: number, options: VendorOptions): Promise<void> {
  const told = await fetch(`http://127.0.0.1:${port}/control`, { method: 'PUT', body: JSON.stringify(options) })
  if (!told.ok) throw new Error(`The stand-in answers ${told.status}.`)
}

/** Asks once for one token: how many events there are besides it. */
async function countEvents({ port, path, headers, keys, body }: Omit<StreamTarget, 'events'>): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[0]}`, ...headers },
    body,
  })
  const text = await response.text()
  const events = text.split('\n\n')
  const isWhole = response.status === 200 && text.endsWith('data: [DONE]\n\n') && /"content":"word"/.test(text)
  if (!isWhole) throw new Error(`${path} answers ${response.status}: ${text}`)
  // Behind the last one is nothing, and one is the token.
  return events.length - 2
}
