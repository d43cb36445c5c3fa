import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Keys } from '../accounts/keys.ts'
import { formatMoney } from '../billing/money.ts'
import { Refusal, type Levels, type Till } from '../billing/till.ts'
import { goneSignal, type Server } from '../platform/http.ts'
import { Problem } from '../platform/problems.ts'
import type { Generation, Reply } from './generation.ts'
import { countOperation, generateOperation, modelsOperation } from './operations.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls, on addresses that ask for a key. */
    caller: Caller | undefined
  }
}

interface GenerationRoutesNeeds {
  readonly generation: Generation
  readonly keys: Keys
  readonly till: Till
  /** Told of every request that was charged. */
  readonly onCharged?: (model: string, usage: NonNullable<Reply['usage']>) => void
}

/** Area A: the addresses that a caller's backend uses, with an API key. */
export function registerGeneration(server: Server, { generation, keys, till, onCharged }: GenerationRoutesNeeds): void {
  server.decorateRequest('caller', undefined)
  server.addHook('onClose', () => generation.settled())

  void server.register(
    async (v1: Server) => {
      v1.addHook('onRequest', async (request) => {
        refuseBrowser(request)
        const caller = await keys.identify(request.headers.authorization)
        request.caller = caller
        request.notes['account_id'] = caller.accountId
        request.notes['key_id'] = caller.keyId
      })

      v1.addHook('onError', async (request, reply, error) => {
        const levels = await levelsAt(till, request, error)
        if (levels) reply.headers(limitHeaders(levels))
      })

      v1.post('/generate', { schema: generateOperation }, async (request, reply) => {
        const made = await generation.generate(callerOf(request), request.body, circumstancesOf(request, reply))
        note(request, made)
        if (made.usage) onCharged?.(made.model, made.usage)
        reply.headers(limitHeaders(made.levels)).headers(made.headers)
        if (made.replayed) reply.header('idempotent-replayed', 'true')
        return reply.type('application/json; charset=utf-8').send(made.body)
      })

      v1.post('/count_tokens', { schema: countOperation }, async (request, reply) => {
        const count = await generation.count(callerOf(request), request.body, circumstancesOf(request, reply))
        request.notes['model'] = count.model
        reply.headers(limitHeaders(count.levels)).header('x-model', count.model)
        return { input_tokens: count.inputTokens, max_cost: formatMoney(count.maxCost) }
      })

      v1.get('/models', { schema: modelsOperation }, async (request, reply) => {
        const caller = callerOf(request)
        const levels = await till.levels(request.id, caller.accountId)
        if (levels) reply.headers(limitHeaders(levels))
        return { object: 'list', data: generation.models(caller), has_more: false } as const
      })
    },
    { prefix: '/v1' },
  )
}

/**
 * Keys belong on a server (section 5.1 of the specification). Browsers send Origin or Sec-Fetch-Site with every call
 * that a page makes; Sec-Fetch-Mode alone is what Node's own fetch sends.
 */
function refuseBrowser({ headers }: FastifyRequest): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] === undefined) return
  throw new Problem(
    'key_in_browser',
    'This call came from a browser, where anyone can read the key. Call from your server, and revoke this key.',
  )
}

function callerOf({ caller }: FastifyRequest): Caller {
  if (caller) return caller
  throw new Error('a handler ran before its caller was known')
}

function circumstancesOf(request: FastifyRequest, reply: FastifyReply) {
  return { requestId: request.id, signal: goneSignal(reply), idempotency: idempotencyOf(request) }
}

function idempotencyOf({ headers, bodyHash }: FastifyRequest): { key: string; hash: string } | undefined {
  const key = headers['idempotency-key']
  if (key === undefined || bodyHash === undefined) return undefined
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return { key, hash: bodyHash }
  throw new Problem('invalid_field', 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    field: 'Idempotency-Key',
  })
}

function note(request: FastifyRequest, { model, usage }: Reply): void {
  request.notes['model'] = model
  request.notes['input_tokens'] = usage?.inputTokens
  request.notes['output_tokens'] = usage?.outputTokens
}

/** Milliseconds that a refusal waits to learn how the limits stand. */
const patience = 250

/** How the limits stand after a refusal, if that can be had at once: the refusal must not fail over it. */
async function levelsAt(till: Till, { id, caller }: FastifyRequest, error: Error): Promise<Levels | undefined> {
  if (error instanceof Refusal && error.levels) return error.levels
  if (!caller) return undefined
  const asked = till.levels(id, caller.accountId).catch(() => undefined)
  return Promise.race([asked, sleep(patience, undefined, { ref: false })])
}

function limitHeaders({ requests, tokens }: Levels): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(requests.limit),
    'x-ratelimit-remaining-requests': String(requests.remaining),
    'x-ratelimit-reset-requests': String(requests.resetSeconds),
    'x-ratelimit-limit-tokens': String(tokens.limit),
    'x-ratelimit-remaining-tokens': String(tokens.remaining),
    'x-ratelimit-reset-tokens': String(tokens.resetSeconds),
  }
}
