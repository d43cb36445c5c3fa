import { join } from 'node:path'
import type { Load } from './load.ts'
import { freePort, startProcess, type Process } from './processes.ts'
import { root, type Installation } from './tollgate.ts'

export const peerNames = ['bare', 'tollgate', 'portkey'] as const
export type PeerName = (typeof peerNames)[number]

/** What is sent to a peer; how much and how long comes with the round. */
export type Target = Omit<Load, 'connections' | 'seconds'>

export interface Peer {
  readonly process: Process
  readonly target: Target
}

/** A port for every process, chosen before any of them starts. */
export type Ports = Readonly<Record<PeerName | 'vendor', number>>

export const choosePorts = async (): Promise<Ports> => ({
  vendor: await freePort(),
  bare: await freePort(),
  tollgate: await freePort(),
  portkey: await freePort(),
})

export const upstreamOf = (ports: Ports): string => `http://127.0.0.1:${ports.vendor}/v1`

const question = 'Rewrite this for a client: the meeting on Tuesday is moved to Thursday at ten.'
const chat = {
  path: '/v1/chat/completions',
  body: { model: 'm', messages: [{ role: 'user', content: question }], max_tokens: 64 },
}
const generate = { path: '/v1/generate', body: { model: 'fast', input: question, max_output_tokens: 64 } }

/** Starts the stand-in of a vendor and the peers in front of it, waits for all, and learns what each one answers. */
export async function startPeers(
  folder: string,
  ports: Ports,
  { environment, keys }: Installation,
  started: Process[],
): Promise<Record<PeerName, Peer>> {
  const upstream = upstreamOf(ports)
  const start = (name: PeerName | 'vendor', command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const process = startProcess({ command, args, environment: more, output: join(folder, `${name}.log`) })
    started.push(process)
    return process
  }
  const node = (name: 'vendor' | 'bare' | 'portkey', args: readonly string[]) =>
    start(name, process.execPath, args, { NODE_ENV: 'production' })
  const gateway = here('node_modules/@portkey-ai/gateway/build/start-server.js')
  const vendor = node('vendor', [here('peers/vendor.ts'), `${ports.vendor}`])
  await vendor.ready(`${upstream}/models`, 10_000)

  // First, since whoever is started last is a little faster.
  const tollgate = start('tollgate', join(root, 'tollgate'), ['start'], { ...environment, PORT: `${ports.tollgate}` })
  await tollgate.ready(`http://127.0.0.1:${ports.tollgate}/readyz`, 30_000)

  const bare = node('bare', [here('peers/bare-proxy.ts'), `${ports.bare}`, upstream])
  const portkey = node('portkey', [
    '--import',
    here('peers/loopback.ts'),
    '--import',
    here('peers/mutable-headers.ts'),
    gateway,
    `--port=${ports.portkey}`,
    '--headless',
  ])
  await bare.ready(`http://127.0.0.1:${ports.bare}/`, 10_000)
  await portkey.ready(`http://127.0.0.1:${ports.portkey}/`, 10_000)

  const customHost = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': upstream }
  return {
    bare: { process: bare, target: await aim(ports.bare, chat, ['none'], {}) },
    tollgate: { process: tollgate, target: await aim(ports.tollgate, generate, keys, {}) },
    portkey: { process: portkey, target: await aim(ports.portkey, chat, ['none'], customHost) },
  }
}

const here = (path: string): string => join(import.meta.dirname, path)

/** Asks once: what comes is looked at here, and from then on it has to be the same to the byte. */
async function aim(
  port: number,
  call: { path: string; body: object },
  keys: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<Target> {
  const body = JSON.stringify(call.body)
  const response = await fetch(`http://127.0.0.1:${port}${call.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[0]}`, ...headers },
    body,
  })
  const expected = await response.text()
  if (response.status !== 200 || !expected.includes('"Hello there."')) {
    throw new Error(`${call.path} answers ${response.status}: ${expected}`)
  }
  return { port, path: call.path, headers, keys, body, expected }
}
