import type { FastifyReply, FastifyRequest } from 'fastify'
import { budgetHeaders, budgetsFor } from '../../accounts/budgets/known-budgets.ts'
import type { Caller } from '../../accounts/keys/keys.ts'
import type { Payer } from '../../billing/payer.ts'
import { disconnectSignal } from '../../platform/http/connection/disconnect.ts'
import { Problem } from '../../platform/problems.ts'
import { anthropicMessages } from '../dialects/anthropic/anthropic-messages.ts'
import type { WireFormat } from '../dialects/dialect.ts'
import type { Job, TextRequest } from '../request.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes that require a key. */
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** The format of errors and headers on this route. */
    wireFormat?: WireFormat
    /** Whether Anthropic's clients use this route. They send the key in `x-api-key`. */
    forAnthropic?: boolean
  }
}

/** The value to read the key from. */
export function authorizationOf(request: FastifyRequest): string | undefined {
  const { authorization, 'x-api-key': key } = request.headers
  if (authorization || typeof key !== 'string') return authorization
  return request.routeOptions.config.forAnthropic === true ? `Bearer ${key}` : undefined
}

/** On routes that two APIs share, a header that all of Anthropic's clients send identifies them. */
export function wireFormatOf({ headers, routeOptions: { config } }: FastifyRequest): WireFormat | undefined {
  return config.forAnthropic === true && headers['anthropic-version'] !== undefined
    ? anthropicMessages
    : config.wireFormat
}

/**
 * Keys belong on a server (section 5.1 of the specification). Browsers send Origin or Sec-Fetch-Site with every call from
 * a page. Sec-Fetch-Mode alone is no sign of a browser: Node's own fetch sends it.
 */
export function refuseBrowser({ headers }: FastifyRequest): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] === undefined) return
  throw new Problem(
    'key_in_browser',
    'This call came from a browser, where anyone can read the key. Call from your server, and revoke this key.',
  )
}

/** The caller, in a handler of a route that requires a key. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller) return caller
  throw new Error('a handler ran before its caller was identified')
}

/** Whether a client with this id exists and is not deleted. */
export type IsClient = (id: string) => Promise<boolean>

const clientField = 'metadata.client_id'

/**
 * Checks that the caller may attribute a cost to this client: only the firm's own accounts may, and only to clients that
 * exist. Throws Problem `invalid_field`. Other accounts learn nothing about the client.
 */
export async function checkAttribution({ own }: Caller, clientId: string, isClient: IsClient): Promise<void> {
  if (!own) {
    const reason = `The field ${clientField} is only for accounts that the firm has marked as its own. Omit it, or have the firm mark this account.`
    throw new Problem('invalid_field', reason, { field: clientField })
  }
  if (!(await isClient(clientId))) {
    throw new Problem('invalid_field', `No client has the id in the field ${clientField}.`, { field: clientField })
  }
}

/** The shared budgets that a request of the caller counts in. */
const countedIn = ({ keyId, sharedBudgets }: Caller, { tags }: TextRequest) =>
  sharedBudgets && budgetsFor(sharedBudgets, keyId, tags)

/** What a request of the caller is charged to. */
export function payerOf(caller: Caller, text: TextRequest, counted = countedIn(caller, text)): Payer {
  const { accountId, keyId, limitId } = caller
  return { accountId, keyId, limitId, clientId: text.clientId, ...counted }
}

/** The job of an HTTP request with an API key. Throws Problem `invalid_field` for a bad Idempotency-Key. */
export function jobOf(request: FastifyRequest, reply: FastifyReply, text: TextRequest): Job {
  const caller = callerOf(request)
  const counted = countedIn(caller, text)
  if (counted) reply.headers(budgetHeaders(counted.budgets))
  return {
    requestId: request.id,
    request: text,
    payer: payerOf(caller, text, counted),
    allowedModels: caller.allowedModels,
    startedAt: request.startedAt,
    signal: disconnectSignal(reply),
    idempotency: idempotencyOf(request),
  }
}

function idempotencyOf({ headers, bodyHash }: FastifyRequest): { key: string; hash: string } | undefined {
  const key = headers['idempotency-key']
  if (key === undefined || bodyHash === undefined) return undefined
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return { key, hash: bodyHash }
  throw new Problem('invalid_field', 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    field: 'Idempotency-Key',
  })
}
