import { once, type EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import path from 'node:path'
import type { interactionPolicy, KoaContextWithOIDC } from 'oidc-provider'
import type { Logger } from 'pino'
import { closeIfStillIdle } from '../../platform/http/connection/socket.ts'
import { openMailCatcher, type MailCatcher } from '../mail/mail-catcher.ts'
import { demoPeople } from '../people.ts'
import { guard, pages } from './provider-routes.ts'
import { clientId, providerId, type ProviderOrder } from './provider-settings.ts'
import { providerSetup, type Portal } from './provider-setup.ts'
import { createEndSignIn } from './provider-sign-out.ts'

/** An OpenID provider for the demo. Anyone who can reach it may sign in as any of the demo's people. */
export interface DemoProvider {
  readonly issuer: string
  /** The port of the mail server on the loopback address. */
  readonly mailPort: number
  close(): Promise<void>
}

/** Numeric, so that no resolver is involved, and not the portal's `localhost`, so that it has its own cookies. */
const loopback = '127.0.0.1'

/** Starts the provider on the loopback address. Its keys and sign-ins are lost when it exits. */
export async function openDemoProvider(order: ProviderOrder, log: Logger): Promise<DemoProvider> {
  await using opened = new AsyncDisposableStack()
  const server = opened.adopt(await listen(order.port), close)
  server.on('timeout', (socket: Socket) => void closeIfStillIdle(socket))
  const issuer = addressOf(server)
  const mail = opened.adopt(await openMailCatcher(order.mailPort), (it) => it.close())
  const handler = createHandler({ issuer, portal: portalOf(order), mail, log })
  // Requests that come before it is ready wait.
  server.on('request', (request, response) => {
    void handler.then(
      (handle) => handle(request, response),
      () => response.destroy(),
    )
  })
  await handler
  const parts = opened.move()
  return Object.freeze({ issuer, mailPort: mail.port, close: () => parts.disposeAsync() })
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

interface HandlerNeeds {
  readonly issuer: string
  readonly portal: Portal
  readonly mail: MailCatcher
  readonly log: Logger
}

async function createHandler({ issuer, portal, mail, log }: HandlerNeeds): Promise<RequestListener> {
  const [{ Provider, interactionPolicy }, stylesheet] = await Promise.all([
    loadLibrary(),
    readFile(path.join(import.meta.dirname, 'page.css'), 'utf8'),
  ])
  const policy = alwaysAsk(interactionPolicy)
  const provider = new Provider(issuer, await providerSetup({ people: demoPeople, portal, policy }))
  const endSignIn = createEndSignIn({ provider, portal, log })
  provider.use(guard(provider, portal))
  provider.use(pages({ provider, people: demoPeople, portal, stylesheet, endSignIn, mail }))
  const failed = (error: unknown) => log.error({ reason: String(error) }, 'the demo provider failed')
  provider.on('server_error', (_, error) => failed(error))
  const emitter: EventEmitter = provider
  emitter.on('error', failed)
  const handle = provider.callback()
  return (request, response) => void handle(request, response)
}

/** Asks for a person at every sign-in: a demo should make it easy to see the portal as another person. */
function alwaysAsk({ base, Check }: typeof interactionPolicy): interactionPolicy.DefaultPolicy {
  const policy = base()
  policy.get('login')?.checks.add(new Check('choice', 'A person must be chosen.', 'login_required', hasNotChosen))
  return policy
}

function hasNotChosen({ oidc }: KoaContextWithOIDC): boolean {
  return oidc.result?.login === undefined
}

/** On import the library warns on the console about an unknown runtime, between our own lines. */
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
  if (address === null || typeof address === 'string') throw new Error('the demo provider does not listen')
  return `http://${loopback}:${address.port}`
}

async function close(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
