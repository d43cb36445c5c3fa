import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Keys } from '../accounts/keys.ts'
import { formatMoney } from '../billing/money.ts'
import type { Till } from '../billing/till.ts'
import type { Server } from '../platform/http/server.ts'
import type { Problem } from '../platform/problems.ts'
import type { OwnUsage } from '../usage/own.ts'
import type { ApiRefusal } from '../usage/refusals.ts'
import { checkAttribution, type IsClient } from './attribution.ts'
import { authorizationOf, callerOf, wireFormatOf, refuseBrowser } from './caller.ts'
import { deliverStream, deliverWhole, headersOf } from './delivery.ts'
import { anthropicMessages, readCountRequest } from './dialects/anthropic-messages.ts'
import type { Dialect } from './dialects/dialect.ts'
import { openAiChat } from './dialects/openai-chat.ts'
import { openAiResponses } from './dialects/openai-responses.ts'
import { tollgate } from './dialects/tollgate.ts'
import type { Generation, Reply } from './generation.ts'
import { jobOf } from './job.ts'
import { levelsForRefusal } from './limit-headers.ts'
import { registerModels } from './model-routes.ts'
import * as operations from './operations.ts'
import { registerOwnUsage } from './own-routes.ts'
import { refusalNotes, type NoteRefusal } from './refusal-notes.ts'
import type { Job, TextRequest } from './request.ts'

export { nameForSamples } from './model-list.ts'
export { formatOfUnknownUrl } from './unknown-url.ts'

interface GenerationRoutesNeeds {
  readonly generation: Generation
  readonly keys: Keys
  readonly till: Till
  readonly isClient: IsClient
  readonly own: OwnUsage
  /** The URL that links to the documentation start with. */
  readonly baseUrl: string
  /** Called for every charged reply. */
  readonly onCharged?: (model: string, usage: Reply['usage']) => void
  /** Called for every request with a key that was refused or failed, and so not charged. */
  readonly onRefused?: (refusal: ApiRefusal) => void
}

/** Registers Area A: the routes that a caller's backend uses with an API key. */
export function registerGeneration(server: Server, needs: GenerationRoutesNeeds): void {
  const { generation, keys, till, isClient, own, baseUrl, onCharged, onRefused } = needs
  const noteRefusal = refusalNotes(generation, onRefused)
  server.jsonOnlyUrls.add('/v1', { noStore: true })
  server.decorateRequest('caller', undefined)
  server.addHook('onClose', () => generation.close())

  const handle = (dialect: Dialect) => (request: FastifyRequest, reply: FastifyReply) => {
    const parsed = dialect.read(request.body)
    const job = jobOf(request, reply, parsed.request)
    const onReply = (made: Reply) => {
      note(request, made, job)
      if (!made.replayed) onCharged?.(made.model, made.usage)
    }
    const onFailure = ({ code }: Problem) => noteRefusal(request, code)
    const delivery = { request, reply, dialect, parsed, baseUrl, onReply, onFailure }
    const { stream, clientId } = parsed.request
    const deliver = (): Promise<string | void> =>
      stream
        ? deliverStream(generation.stream(job), delivery)
        : generation.generate(job).then((made) => deliverWhole(made, delivery))
    const delivered =
      clientId === undefined ? deliver() : checkAttribution(callerOf(request), clientId, isClient).then(deliver)
    // Such a job continues when its caller disconnects, and a server that stops must let it.
    if (job.idempotency) server.closeAfter(delivered)
    return delivered
  }

  void server.register(
    async (v1: Server) => {
      registerCaller(v1, { keys, till, noteRefusal })
      const { generateText, chatCompletions, responses, messages, countTokens, countMessageTokens } = operations
      v1.post('/generate', { schema: generateText, config: { wireFormat: tollgate } }, handle(tollgate))
      v1.post('/chat/completions', { schema: chatCompletions, config: { wireFormat: openAiChat } }, handle(openAiChat))
      v1.post('/responses', { schema: responses, config: { wireFormat: openAiResponses } }, handle(openAiResponses))
      v1.post(
        '/messages',
        { schema: messages, config: { wireFormat: anthropicMessages, forAnthropic: true } },
        handle(anthropicMessages),
      )

      const count = async (request: FastifyRequest, reply: FastifyReply, text: TextRequest, dialect: Dialect) => {
        if (text.clientId !== undefined) await checkAttribution(callerOf(request), text.clientId, isClient)
        const counted = await generation.count(jobOf(request, reply, text))
        request.notes['model'] = counted.model
        reply.headers(headersOf(dialect, counted.levels)).header('x-model', counted.model)
        return counted
      }

      v1.post('/count_tokens', { schema: countTokens }, async (request, reply) => {
        const text = tollgate.read(request.body).request
        const { inputTokens, maxCost } = await count(request, reply, text, tollgate)
        return { input_tokens: inputTokens, max_cost: formatMoney(maxCost) }
      })

      const config = { wireFormat: anthropicMessages, forAnthropic: true }
      v1.post('/messages/count_tokens', { schema: countMessageTokens, config }, async (request, reply) => {
        const { inputTokens } = await count(request, reply, readCountRequest(request.body), anthropicMessages)
        return { input_tokens: inputTokens }
      })

      registerModels(v1, { generation, till })
      registerOwnUsage(v1, { own, till })
    },
    { prefix: '/v1' },
  )
}

interface CallerNeeds extends Pick<GenerationRoutesNeeds, 'keys' | 'till'> {
  readonly noteRefusal: NoteRefusal
}

/** Registers what all routes share: the caller of a request, and the format of its errors. */
function registerCaller(v1: Server, { keys, till, noteRefusal }: CallerNeeds): void {
  // A dialect reads its own bodies: a schema alone cannot describe what is not supported of another API.
  v1.setValidatorCompiler(() => (value: unknown) => ({ value }))
  v1.addHook('onRequest', (request, reply, done) => {
    const headers = wireFormatOf(request)?.headers?.(request.id)
    if (headers) reply.headers(headers)
    refuseBrowser(request)
    setCaller(request, keys.identify(authorizationOf(request)), done)
  })

  // A body may take a minute to arrive; the key may be revoked in the meantime.
  v1.addHook('preHandler', (request, _, done) => {
    if (request.method === 'GET') done()
    else setCaller(request, keys.identifyAgain(callerOf(request)), done)
  })

  v1.addHook('onError', async (request, reply, error) => {
    const levels = await levelsForRefusal(till, request, error)
    if (levels) reply.headers(headersOf(wireFormatOf(request), levels))
  })

  v1.setErrorHandler((error: Error, request, reply) => {
    v1.answerError(error, request, reply, wireFormatOf(request)?.errorBody)
    if (request.refusedAs) noteRefusal(request, request.refusedAs)
  })
}

/** Avoids a promise where the caller is already known: this is on the path of every request. */
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

/** Adds the reply to the request's log line. The line of a caller that disconnected is already written. */
function note(request: FastifyRequest, { model, usage, cost, stopReason, replayed }: Reply, { signal }: Job): void {
  const { notes } = request
  notes['model'] = model
  if (replayed) return
  notes['input_tokens'] = usage.inputTokens
  notes['output_tokens'] = usage.outputTokens
  notes['cost'] = cost
  if (signal.aborted) request.log.info({ request_id: request.id, stop_reason: stopReason, ...notes }, lateCharge)
}

const lateCharge = 'charged after the caller disconnected'
