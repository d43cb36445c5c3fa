import { join } from 'node:path'
import type { Load } from './load.ts'
import { freePort, startProcess, type ServerProcess } from './server-process.ts'
import { root, type Installation } from './tollgate.ts'

export const peerNames = ['bare', 'limit', 'tollgate', 'portkey'] as const
export type PeerName = (typeof peerNames)[number]

/** The request to a peer and the expected response. The round adds the connections and the seconds. */
export type Target = Omit<Load, 'connections' | 'seconds'>

export interface Peer {
  readonly process: ServerProcess
  readonly target: Target
}

/** A port per process, chosen before any of them starts. */
export type Ports = Readonly<Record<PeerName | 'vendor', number>>

/** Where processes write their output, and the list that they are added to. */
export interface Stage {
  readonly folder: string
  readonly started: ServerProcess[]
}

export const choosePorts = async (): Promise<Ports> => ({
  vendor: await freePort(),
  bare: await freePort(),
  limit: await freePort(),
  tollgate: await freePort(),
  portkey: await freePort(),
})

/** The base URL of the stand-in for a vendor. */
export const upstreamUrl = (port: number): string => `http://127.0.0.1:${port}/v1`

const prompt = 'Rewrite this for a client: the meeting on Tuesday is moved to Thursday at ten.'
const chat = {
  path: '/v1/chat/completions',
  body: { model: 'm', messages: [{ role: 'user', content: prompt }], max_tokens: 64 },
}
const generate = { path: '/v1/generate', body: { model: 'fast', input: prompt, max_output_tokens: 64 } }

/** Starts the stand-in for a vendor, then the peers in front of it, and records the response of each. */
export async function startPeers(
  stage: Stage,
  ports: Ports,
  installation: Installation,
): Promise<Record<PeerName, Peer>> {
  const upstream = upstreamUrl(ports.vendor)
  await startVendor(stage, ports.vendor)
  // Tollgate starts first, because the process that starts last is slightly faster.
  const tollgate = await startTollgate(stage, ports.tollgate, installation)
  const bare = startNode(stage, 'bare', [here('peers/bare-proxy.ts'), `${ports.bare}`, upstream])
  const limit = startNode(stage, 'limit', [
    here('peers/bare-proxy.ts'),
    `${ports.limit}`,
    upstream,
    await installation.createDatabase('durable_rows'),
  ])
  const portkey = startNode(stage, 'portkey', [
    '--import',
    here('peers/loopback.ts'),
    '--import',
    here('peers/mutable-headers.ts'),
    here('node_modules/@portkey-ai/gateway/build/start-server.js'),
    `--port=${ports.portkey}`,
    '--headless',
  ])
  await bare.ready(`http://127.0.0.1:${ports.bare}/`, 10_000)
  await limit.ready(`http://127.0.0.1:${ports.limit}/`, 10_000)
  await portkey.ready(`http://127.0.0.1:${ports.portkey}/`, 10_000)
  const customHost = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': upstream }
  return {
    tollgate,
    bare: { process: bare, target: await recordTarget(ports.bare, chat, ['none'], {}) },
    limit: { process: limit, target: await recordTarget(ports.limit, chat, installation.keys, {}) },
    portkey: { process: portkey, target: await recordTarget(ports.portkey, chat, ['none'], customHost) },
  }
}

/** Starts the stand-in for a vendor and waits until it is ready. */
export async function startVendor(stage: Stage, port: number): Promise<void> {
  const vendor = startNode(stage, 'vendor', [here('peers/vendor.ts'), `${port}`])
  await vendor.ready(`${upstreamUrl(port)}/models`, 10_000)
}

/** Starts an installation of Tollgate, waits until it is ready, and sends it one request. */
export async function startTollgate(
  { folder, started }: Stage,
  port: number,
  { environment, keys }: Pick<Installation, 'environment' | 'keys'>,
): Promise<Peer> {
  const process = startProcess({
    command: join(root, 'tollgate'),
    args: ['start'],
    environment: { ...environment, PORT: `${port}` },
    output: join(folder, `tollgate-${port}.log`),
  })
  started.push(process)
  await process.ready(`http://127.0.0.1:${port}/readyz`, 30_000)
  return { process, target: await recordTarget(port, generate, keys, {}) }
}

function startNode({ folder, started }: Stage, name: string, args: readonly string[]): ServerProcess {
  const environment = { NODE_ENV: 'production' }
  const child = startProcess({ command: process.execPath, args, environment, output: join(folder, `${name}.log`) })
  started.push(child)
  return child
}

const here = (path: string): string => join(import.meta.dirname, path)

/** Sends one request and checks the response. Every later response must equal it byte for byte. */
async function recordTarget(
  port: number,
  request: { path: string; body: object },
  keys: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<Target> {
  const body = JSON.stringify(request.body)
  const response = await fetch(`http://127.0.0.1:${port}${request.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[0]}`, ...headers },
    body,
  })
  const expected = await response.text()
  if (response.status !== 200 || !expected.includes('"Hello there."')) {
    throw new Error(`${request.path} answers ${response.status}: ${expected}`)
  }
  return { port, path: request.path, headers, keys, body, expected }
}
