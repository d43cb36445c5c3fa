import * as operations from '../operations.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../accounts/keys/keys.ts'
import { formatMoney } from '../../billing/prices/money.ts'
import { promptTokensOf, type Till } from '../../billing/till/till.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem } from '../../platform/problems.ts'
import type { OwnUsage } from '../../usage/own/own.ts'
import { callerOf, jobOf, wireFormatOf } from './caller.ts'
import { deliverStream, deliverWhole, headersOf, levelsForRefusal } from '../delivery.ts'
import { anthropicMessages, readCountRequest } from '../dialects/anthropic/anthropic-messages.ts'
import type { Dialect, Permissions } from '../dialects/dialect.ts'
import { openAiChat } from '../dialects/openai-chat/openai-chat.ts'
import { readEmbeddingsRequest } from '../dialects/embeddings/openai-embeddings.ts'
import { openAiFormat } from '../dialects/openai.ts'
import { openAiResponses } from '../dialects/openai-responses/openai-responses.ts'
import { tollgate } from '../dialects/tollgate.ts'
import { replyHeaders } from '../reply.ts'
import type { Generation, Reply } from '../generation.ts'
import { registerModels } from '../models/routes.ts'
import { registerOwnUsage } from '../own/routes.ts'
import type { ImageFetcher } from '../files/image-fetcher.ts'
import type { NoteRefusal } from './refusal-notes.ts'
import { refuseLargeText } from './text-size.ts'
import type { Job, TextRequest } from '../request.ts'

/** Who makes the calls of a prefix. Every method throws Problem. */
export interface Callers {
  /** Runs before the body is read. */
  identify(request: FastifyRequest): Caller | Promise<Caller>
  /** Runs once a body has arrived, which may take a minute: the permission may have been withdrawn in the meantime. */
  identifyAgain(request: FastifyRequest): Caller | Promise<Caller>
  /** Checks that the caller may attribute a cost to this client. */
  checkClient(this: void, caller: Caller, clientId: string): Promise<void>
}

export interface CallsNeeds {
  readonly generation: Generation
  readonly till: Till
  readonly own: OwnUsage
  /** The URL that links to the documentation start with. */
  readonly baseUrl: string
  /** The largest request body without its images and documents, in bytes. */
  readonly requestBytes: number
  /** The most bytes of the images and documents of one request. */
  readonly fileBytes: number
  readonly permitted: Permissions
  readonly images: Pick<ImageFetcher, 'check'>
  /** Called for every charged reply. */
  readonly onCharged?: ((model: string, usage: Reply['usage']) => void) | undefined
  readonly noteRefusal: NoteRefusal
}

/** Registers the operations of Area A below the prefix of `scope`. */
export function registerCalls(scope: Server, callers: Callers, needs: CallsNeeds): void {
  const { generation, till, own } = needs
  registerCaller(scope, callers, needs)
  registerGenerating(scope, callers, needs)
  registerEmbeddings(scope, callers, needs)
  registerCounting(scope, callers, needs)
  registerModels(scope, { generation, till })
  registerOwnUsage(scope, { own, till })
}

function registerGenerating(scope: Server, { checkClient }: Callers, needs: CallsNeeds): void {
  const { generation, baseUrl, requestBytes, permitted, images, onCharged, noteRefusal } = needs
  const handle = (dialect: Dialect) => (request: FastifyRequest, reply: FastifyReply) => {
    const parsed = dialect.read(request.body, permitted)
    images.check(parsed.request.prompt)
    refuseLargeText(request.bodyBytes, parsed.request.prompt, requestBytes)
    const job = jobOf(request, reply, parsed.request)
    const onReply = (made: Reply) => {
      note(request, made, job)
      if (!made.replayed) onCharged?.(made.model, made.usage)
    }
    const onFailure = (problem: Problem) => noteRefusal(request, problem.code, problem)
    const delivery = { request, reply, dialect, parsed, baseUrl, onReply, onFailure }
    const { stream, clientId } = parsed.request
    const deliver = (): Promise<string | void> =>
      stream
        ? deliverStream(generation.stream(job), delivery)
        : generation.generate(job).then((made) => deliverWhole(made, delivery))
    const delivered = clientId === undefined ? deliver() : checkClient(callerOf(request), clientId).then(deliver)
    // Such a job continues when its caller disconnects, and a server that stops must let it.
    if (job.idempotency) scope.closeAfter(delivered)
    return delivered
  }

  const { generateText, chatCompletions, responses, messages } = operations
  scope.post('/generate', { schema: generateText, config: { wireFormat: tollgate } }, handle(tollgate))
  const bodyLimit = requestBytes + needs.fileBytes
  const textBytes = requestBytes
  const chat = { schema: chatCompletions, config: { wireFormat: openAiChat, textBytes }, bodyLimit }
  scope.post('/chat/completions', chat, handle(openAiChat))
  const ofResponses = { schema: responses, config: { wireFormat: openAiResponses, textBytes }, bodyLimit }
  scope.post('/responses', ofResponses, handle(openAiResponses))
  const ofMessages = { schema: messages, config: { ...anthropic, textBytes }, bodyLimit }
  scope.post('/messages', ofMessages, handle(anthropicMessages))
}

function registerEmbeddings(scope: Server, { checkClient }: Callers, { generation, onCharged }: CallsNeeds): void {
  const { embeddings } = operations
  scope.post('/embeddings', { schema: embeddings, config: { wireFormat: openAiFormat } }, async (request, reply) => {
    const { request: asked, body } = readEmbeddingsRequest(request.body)
    if (request.headers['idempotency-key'] !== undefined) throw notStored()
    const job = jobOf(request, reply, asked)
    if (asked.clientId !== undefined) await checkClient(callerOf(request), asked.clientId)
    const made = await generation.embed(job)
    note(request, made.reply, job)
    onCharged?.(made.reply.model, made.reply.usage)
    reply.headers(headersOf(openAiFormat, made.reply.levels)).headers(replyHeaders(made.reply))
    reply.type('application/json; charset=utf-8')
    return body(made)
  })
}

const notStored = (): Problem =>
  new Problem('invalid_field', 'Embeddings are not stored for retries: omit the header Idempotency-Key.', {
    field: 'Idempotency-Key',
  })

const anthropic = { wireFormat: anthropicMessages, forAnthropic: true }

function registerCounting(scope: Server, { checkClient }: Callers, needs: CallsNeeds): void {
  const { generation, requestBytes, fileBytes, permitted, images } = needs
  const count = async (request: FastifyRequest, reply: FastifyReply, text: TextRequest, dialect: Dialect) => {
    if (text.clientId !== undefined) await checkClient(callerOf(request), text.clientId)
    const counted = await generation.count(jobOf(request, reply, text))
    request.notes['model'] = counted.model
    reply.headers(headersOf(dialect, counted.levels)).header('x-model', counted.model)
    return counted
  }

  const { countTokens, countMessageTokens } = operations
  scope.post('/count_tokens', { schema: countTokens }, async (request, reply) => {
    const text = tollgate.read(request.body).request
    const { inputTokens, maxCost } = await count(request, reply, text, tollgate)
    return { input_tokens: inputTokens, max_cost: formatMoney(maxCost) }
  })

  const config = { ...anthropic, textBytes: requestBytes }
  const ofMessages = { schema: countMessageTokens, config, bodyLimit: requestBytes + fileBytes }
  scope.post('/messages/count_tokens', ofMessages, async (request, reply) => {
    const text = readCountRequest(request.body, permitted)
    images.check(text.prompt)
    refuseLargeText(request.bodyBytes, text.prompt, requestBytes)
    const { inputTokens } = await count(request, reply, text, anthropicMessages)
    return { input_tokens: inputTokens }
  })
}

/** Registers what all routes share: the caller of a request, and the format of its errors. */
function registerCaller(scope: Server, callers: Callers, { till, noteRefusal }: CallsNeeds): void {
  // A dialect reads its own bodies: a schema alone cannot describe what is not supported of another API.
  scope.setValidatorCompiler(() => (value: unknown) => ({ value }))
  scope.addHook('onRequest', (request, reply, done) => {
    const headers = wireFormatOf(request)?.headers?.(request.id)
    if (headers) reply.headers(headers)
    setCaller(request, callers.identify(request), done)
  })

  scope.addHook('preHandler', (request, _, done) => {
    if (request.method === 'GET') done()
    else setCaller(request, callers.identifyAgain(request), done)
  })

  scope.addHook('onError', async (request, reply, error) => {
    const levels = await levelsForRefusal(till, request, error)
    if (levels) reply.headers(headersOf(wireFormatOf(request), levels))
  })

  scope.setErrorHandler((error: Error, request, reply) => {
    scope.answerError(error, request, reply, wireFormatOf(request)?.errorBody)
    if (request.refusedAs) noteRefusal(request, request.refusedAs, error)
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
  notes['input_tokens'] = promptTokensOf(usage)
  notes['output_tokens'] = usage.outputTokens
  notes['cost'] = cost
  if (signal.aborted) request.log.info({ request_id: request.id, stop_reason: stopReason, ...notes }, lateCharge)
}

const lateCharge = 'charged after the caller disconnected'
