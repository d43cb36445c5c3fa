import { randomBytes } from 'node:crypto'
import { once, type EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import path from 'node:path'
import type { interactionPolicy, KoaContextWithOIDC } from 'oidc-provider'
import type { Logger } from 'pino'
import type { Config } from '../platform/config.ts'
import { demoPeople } from './people.ts'
import { guard, pages } from './provider-routes.ts'
import { providerSetup, type Portal } from './provider-setup.ts'
import { createEndSignIn } from './provider-sign-out.ts'

type ProviderSettings = Config['sign_in']['providers'][number]

/** An OpenID provider for trying the portal out: whoever can reach it may sign in as anyone of the demo's firm. */
export interface DemoProvider {
  /** What the service has to know of it, as if the configuration named it. */
  readonly settings: ProviderSettings
  close(): Promise<void>
}

export interface DemoProviderNeeds {
  /** The portal's address, of this machine. */
  readonly baseUrl: string
  /** The port to take when it is free; otherwise any. */
  readonly port: number
  readonly log: Logger
}

/** Numerical, so that no resolver has a say, and another host than the `localhost` of the portal: its own cookies. */
const loopback = '127.0.0.1'

/** Starts the provider, on the loopback address only. It forgets its keys and sign-ins when it ends. */
export async function openDemoProvider({ baseUrl, port, log }: DemoProviderNeeds): Promise<DemoProvider> {
  await using opened = new AsyncDisposableStack()
  const server = opened.adopt(await listen(port), close)
  const issuer = addressOf(server)
  const portal = portalAt(baseUrl)
  server.on('request', await createHandler(issuer, portal, log))
  const parts = opened.move()
  const settings: ProviderSettings = {
    id: providerId,
    name: 'the demo',
    issuer,
    client_id: portal.clientId,
    client_secret: portal.clientSecret,
    trust_email: 'when_verified',
  }
  return Object.freeze({ settings: Object.freeze(settings), close: () => parts.disposeAsync() })
}

const providerId = 'demo'

function portalAt(baseUrl: string): Portal {
  return {
    clientId: 'tollgate',
    clientSecret: randomBytes(32).toString('base64url'),
    baseUrl,
    backChannel: `${baseUrl}/auth/backchannel-logout/${providerId}`,
    afterSignOut: [`${baseUrl}/signin`],
  }
}

async function createHandler(issuer: string, portal: Portal, log: Logger): Promise<RequestListener> {
  const [{ Provider, interactionPolicy }, stylesheet] = await Promise.all([
    loadLibrary(),
    readFile(path.join(import.meta.dirname, 'page.css'), 'utf8'),
  ])
  const policy = alwaysAsk(interactionPolicy)
  const provider = new Provider(issuer, await providerSetup({ people: demoPeople, portal, policy }))
  const endSignIn = createEndSignIn({ provider, portal, log })
  provider.use(guard(provider, portal))
  provider.use(pages({ provider, people: demoPeople, portal, stylesheet, endSignIn }))
  const failed = (error: unknown) => log.error({ reason: String(error) }, 'the provider of the demo failed')
  provider.on('server_error', (_, error) => failed(error))
  const emitter: EventEmitter = provider
  emitter.on('error', failed)
  const handle = provider.callback()
  return (request, response) => void handle(request, response)
}

/** Whoever has signed in before chooses again: to see the portal as somebody else is what the demo is for. */
function alwaysAsk({ base, Check }: typeof interactionPolicy): interactionPolicy.DefaultPolicy {
  const policy = base()
  policy.get('login')?.checks.add(new Check('choice', 'Someone must be chosen.', 'login_required', hasNotChosen))
  return policy
}

function hasNotChosen({ oidc }: KoaContextWithOIDC): boolean {
  return oidc.result?.login === undefined
}

/** On import the library speaks on the console of a runtime that it has not heard of, amidst our lines for people. */
async function loadLibrary() {
  const { warn } = console
  Object.assign(console, { warn: () => undefined })
  try {
    return await import('oidc-provider')
  } finally {
    Object.assign(console, { warn })
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer()
  try {
    await once(server.listen(port, loopback), 'listening')
  } catch (error) {
    if (port === 0) throw error
    return listen(0)
  }
  return server
}

function addressOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the provider of the demo does not listen')
  return `http://${loopback}:${address.port}`
}

async function close(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
