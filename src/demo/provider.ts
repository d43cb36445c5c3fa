import { once, type EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import path from 'node:path'
import type { interactionPolicy, KoaContextWithOIDC } from 'oidc-provider'
import type { Logger } from 'pino'
import { demoPeople } from './people.ts'
import { guard, pages } from './provider-routes.ts'
import { clientId, providerId, type ProviderOrder } from './provider-settings.ts'
import { providerSetup, type Portal } from './provider-setup.ts'
import { createEndSignIn } from './provider-sign-out.ts'

/** An OpenID provider for trying the portal out: whoever can reach it may sign in as anyone of the demo's firm. */
export interface DemoProvider {
  readonly issuer: string
  close(): Promise<void>
}

/** Numerical, so that no resolver has a say, and another host than the `localhost` of the portal: its own cookies. */
const loopback = '127.0.0.1'

/** Starts the provider, on the loopback address only. It forgets its keys and sign-ins when it ends. */
export async function openDemoProvider(order: ProviderOrder, log: Logger): Promise<DemoProvider> {
  await using opened = new AsyncDisposableStack()
  const server = opened.adopt(await listen(order.port), close)
  const issuer = addressOf(server)
  const handler = createHandler(issuer, portalOf(order), log)
  // Who asks before it is ready waits.
  server.on('request', (request, response) => {
    void handler.then(
      (handle) => handle(request, response),
      () => response.destroy(),
    )
  })
  await handler
  const parts = opened.move()
  return Object.freeze({ issuer, close: () => parts.disposeAsync() })
}

function portalOf({ baseUrl, clientSecret }: ProviderOrder): Portal {
  return {
    clientId,
    clientSecret,
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
