import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Keys } from '../accounts/keys.ts'
import { formatMoney } from '../billing/money.ts'
import type { Till } from '../billing/till.ts'
import { goneSignal, type Server } from '../platform/http/http.ts'
import { Problem } from '../platform/problems.ts'
import { answerByEvents, answerWhole, headersOf } from './answers.ts'
import { authorizationOf, callerOf, mannerOf, refuseBrowser } from './caller.ts'
import { anthropicMessages } from './dialects/anthropic-messages.ts'
import type { Dialect } from './dialects/dialect.ts'
import { openAiChat } from './dialects/openai-chat.ts'
import { openAiResponses } from './dialects/openai-responses.ts'
import { tollgate } from './dialects/tollgate.ts'
import type { Generation, Reply } from './generation.ts'
import { levelsAt } from './limit-headers.ts'
import { registerModels } from './model-routes.ts'
import * as operations from './operations.ts'

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

  const answerIn = (dialect: Dialect) => (request: FastifyRequest, reply: FastifyReply) => {
    const exchange = dialect.read(request.body)
    const asked = [callerOf(request), exchange.request, circumstancesOf(request, reply)] as const
    const onReply = (made: Reply) => {
      note(request, made)
      if (!made.replayed) onCharged?.(made.model, made.usage)
    }
    const answering = { request, reply, dialect, exchange, baseUrl, onReply }
    if (exchange.request.stream) return answerByEvents(generation.stream(...asked), answering)
    return generation.generate(...asked).then((made) => answerWhole(made, answering))
  }

  void server.register(
    async (v1: Server) => {
      // A dialect reads its own bodies: a schema alone cannot say what of another API is not served.
      v1.setValidatorCompiler(() => (value: unknown) => ({ value }))
      v1.addHook('onRequest', (request, reply, done) => {
        const headers = mannerOf(request)?.headers?.(request.id)
        if (headers) reply.headers(headers)
        refuseBrowser(request)
        setCaller(request, keys.identify(authorizationOf(request)), done)
      })

      // A body may take a minute to arrive, and the key may be revoked meanwhile.
      v1.addHook('preHandler', (request, _, done) => {
        if (request.method === 'GET') done()
        else setCaller(request, keys.identifyAgain(callerOf(request)), done)
      })

      v1.addHook('onError', async (request, reply, error) => {
        const levels = await levelsAt(till, request, error)
        if (levels) reply.headers(headersOf(mannerOf(request), levels))
      })

      v1.setErrorHandler((error: Error, request, reply) =>
        v1.answerError(error, request, reply, mannerOf(request)?.refusal),
      )

      const { generate, chatCompletions, responses, messages, countTokens } = operations
      v1.post('/generate', { schema: generate, config: { manner: tollgate } }, answerIn(tollgate))
      v1.post('/chat/completions', { schema: chatCompletions, config: { manner: openAiChat } }, answerIn(openAiChat))
      v1.post('/responses', { schema: responses, config: { manner: openAiResponses } }, answerIn(openAiResponses))
      v1.post(
        '/messages',
        { schema: messages, config: { manner: anthropicMessages, forAnthropic: true } },
        answerIn(anthropicMessages),
      )

      v1.post('/count_tokens', { schema: countTokens }, async (request, reply) => {
        const { request: asked } = tollgate.read(request.body)
        const count = await generation.count(callerOf(request), asked, circumstancesOf(request, reply))
        request.notes['model'] = count.model
        reply.headers(headersOf(tollgate, count.levels)).header('x-model', count.model)
        return { input_tokens: count.inputTokens, max_cost: formatMoney(count.maxCost) }
      })

      registerModels(v1, { generation, till })
    },
    { prefix: '/v1' },
  )
}

/** On the path of every request: without a promise where there is none. */
function setCaller(request: FastifyRequest, identified: Caller | Promise<Caller>, done: (error?: Error) => void): void {
  if (identified instanceof Promise) {
    identified.then((caller) => setCaller(request, caller, done), done)
    return
  }
  request.caller = identified
  request.notes['account_id'] = identified.accountId
  request.notes['key_id'] = identified.keyId
  done()
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
