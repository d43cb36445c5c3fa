import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Keys } from '../accounts/keys.ts'
import { formatMoney } from '../billing/money.ts'
import type { Till } from '../billing/till.ts'
import { goneSignal, type Server } from '../platform/http.ts'
import { Problem } from '../platform/problems.ts'
import { answerByEvents, answerWhole, headersOf, refusedOf } from './answers.ts'
import { anthropicMessages } from './dialects/anthropic-messages.ts'
import type { Dialect } from './dialects/dialect.ts'
import { openAiChat } from './dialects/openai-chat.ts'
import { openAiResponses } from './dialects/openai-responses.ts'
import { tollgate } from './dialects/tollgate.ts'
import type { Generation, Reply } from './generation.ts'
import { levelsAt } from './limit-headers.ts'
import * as operations from './operations.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls, on addresses that ask for a key. */
    caller: Caller | undefined
  }
  interface FastifyContextConfig {
    /** What an address speaks. */
    dialect?: Dialect
    /** Whether the key may also come in `x-api-key`, as clients of Anthropic's API may send it. */
    apiKeyHeader?: boolean
  }
}

interface GenerationRoutesNeeds {
  readonly generation: Generation
  readonly keys: Keys
  readonly till: Till
  /** The address that links to the documentation start with. */
  readonly baseUrl: string
  /** Told of every request that was charged. */
  readonly onCharged?: (model: string, usage: Reply['usage']) => void
}

/** Area A: the addresses that a caller's backend uses, with an API key. */
export function registerGeneration(server: Server, needs: GenerationRoutesNeeds): void {
  const { generation, keys, till, baseUrl, onCharged } = needs
  server.decorateRequest('caller', undefined)
  server.addHook('onClose', () => generation.settled())

  const answerIn = (dialect: Dialect) => async (request: FastifyRequest, reply: FastifyReply) => {
    const exchange = dialect.read(request.body)
    const steps = generation.generate(callerOf(request), exchange.request, circumstancesOf(request, reply))
    const onReply = (made: Reply) => {
      note(request, made)
      if (!made.replayed) onCharged?.(made.model, made.usage)
    }
    const answering = { request, reply, dialect, exchange, baseUrl, onReply }
    return exchange.request.stream ? answerByEvents(steps, answering) : answerWhole(steps, answering)
  }

  void server.register(
    async (v1: Server) => {
      // A dialect reads its own bodies: a schema alone cannot say what of another API is not served.
      v1.setValidatorCompiler(() => (value: unknown) => ({ value }))
      v1.addHook('onRequest', async (request, reply) => {
        const { dialect } = request.routeOptions.config
        reply.headers(dialect?.headers?.(request.id) ?? {})
        refuseBrowser(request)
        const caller = await keys.identify(authorizationOf(request))
        request.caller = caller
        request.notes['account_id'] = caller.accountId
        request.notes['key_id'] = caller.keyId
      })

      v1.addHook('onError', async (request, reply, error) => {
        const levels = await levelsAt(till, request, error)
        if (levels) reply.headers(headersOf(request.routeOptions.config.dialect, levels))
      })

      v1.addHook('onSend', async (request, reply, payload) => {
        const { dialect } = request.routeOptions.config
        if (!dialect || request.refusedAs === undefined || typeof payload !== 'string') return payload
        return JSON.stringify(dialect.refusal(refusedOf(payload), reply.statusCode))
      })

      const { generate, chatCompletions, responses, messages, countTokens, listModels } = operations
      v1.post('/generate', { schema: generate, config: { dialect: tollgate } }, answerIn(tollgate))
      v1.post('/chat/completions', { schema: chatCompletions, config: { dialect: openAiChat } }, answerIn(openAiChat))
      v1.post('/responses', { schema: responses, config: { dialect: openAiResponses } }, answerIn(openAiResponses))
      v1.post(
        '/messages',
        { schema: messages, config: { dialect: anthropicMessages, apiKeyHeader: true } },
        answerIn(anthropicMessages),
      )

      v1.post('/count_tokens', { schema: countTokens }, async (request, reply) => {
        const { request: asked } = tollgate.read(request.body)
        const count = await generation.count(callerOf(request), asked, circumstancesOf(request, reply))
        request.notes['model'] = count.model
        reply.headers(headersOf(tollgate, count.levels)).header('x-model', count.model)
        return { input_tokens: count.inputTokens, max_cost: formatMoney(count.maxCost) }
      })

      v1.get('/models', { schema: listModels, config: { apiKeyHeader: true } }, async (request, reply) => {
        const caller = callerOf(request)
        const levels = await till.levels(request.id, caller.accountId)
        if (levels) reply.headers(headersOf(undefined, levels))
        const data = generation.models(caller)
        const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
        return { object: 'list', data, has_more: false, first_id, last_id } as const
      })
    },
    { prefix: '/v1' },
  )
}

function authorizationOf({ headers, routeOptions }: FastifyRequest): string | undefined {
  const key = headers['x-api-key']
  const other = routeOptions.config.apiKeyHeader === true && typeof key === 'string' ? `Bearer ${key}` : undefined
  return headers.authorization ?? other
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

function note(request: FastifyRequest, { model, usage, replayed }: Reply): void {
  request.notes['model'] = model
  if (replayed) return
  request.notes['input_tokens'] = usage.inputTokens
  request.notes['output_tokens'] = usage.outputTokens
}
