import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Levels } from '../billing/till.ts'
import { refusalOf } from '../platform/http/errors.ts'
import { Problem, problems } from '../platform/problems.ts'
import type { Dialect, Exchange, Manner, Telling } from './dialects/dialect.ts'
import type { Reply, Step } from './generation.ts'
import { limitHeaders } from './limit-headers.ts'
import { createEventStream } from './stream.ts'

/** How one request is answered. */
export interface Answering {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly dialect: Dialect
  readonly exchange: Exchange
  /** The address that links to the documentation start with. */
  readonly baseUrl: string
  /** Told of the reply before it leaves. */
  readonly onReply: (reply: Reply) => void
}

/** The body of the whole reply, whose headers are set here. */
export function answerWhole(made: Reply, { reply, exchange, dialect, onReply }: Answering): string {
  onReply(made)
  reply.headers(headersOf(dialect, made.levels)).headers(replyHeaders(made)).type('application/json; charset=utf-8')
  return exchange.answer(made)
}

/**
 * Answers with events while the reply is generated. Nothing is sent before the first text: what fails until then is
 * thrown. Whatever fails later is told by the last event. The steps are read to their end also when the caller has gone.
 */
export async function answerByEvents(steps: AsyncIterable<Step>, answering: Answering): Promise<void> {
  const { request, reply, dialect, exchange, onReply } = answering
  const stream = createEventStream(reply.raw)
  let telling: Telling | undefined

  async function begin(start: Parameters<Exchange['stream']>[0], levels: Levels, more: Record<string, string>) {
    reply.headers(headersOf(dialect, levels)).headers(more)
    reply.hijack()
    stream.begin(plainHeaders(reply))
    const begun = exchange.stream(start)
    await stream.send(begun.opening)
    return begun
  }

  async function close(made: Reply): Promise<void> {
    onReply(made)
    if (!telling) {
      // Nothing has been told yet, of a stored reply or of one without a text.
      telling = await begin({ ...made, inputTokens: made.usage.inputTokens }, made.levels, replyHeaders(made))
      if (made.text !== '') await stream.send([telling.text(made.text)])
    }
    await stream.send(telling.closing(made))
  }

  try {
    for await (const step of steps) {
      if (step.kind === 'started') telling = await begin(step, step.levels, startHeaders(step))
      else if (step.kind === 'texts') await stream.send(telling ? step.texts.map(telling.text) : [])
      else if (step.kind === 'reply') await close(step.reply)
      else {
        onReply(step.reply)
        throw step.problem
      }
    }
  } catch (error) {
    if (!stream.begun) throw error
    const problem = problemOf(error, request)
    request.refusedAs = problem.code
    const { error: refusal } = refusalOf(answering.baseUrl, problem, request.id)
    if (telling) await stream.send([telling.failure(refusal, problems[problem.code].status)])
  }
  stream.end()
}

/** The headers that say how the limits stand, in the service's own names and in those of the API that is followed. */
export function headersOf(manner: Manner | undefined, levels: Levels): Record<string, string> {
  const ours = limitHeaders(levels)
  return manner?.limitHeaders ? { ...ours, ...manner.limitHeaders(levels) } : ours
}

function replyHeaders({ headers, replayed }: Reply): Readonly<Record<string, string>> {
  return replayed ? { ...headers, 'idempotent-replayed': 'true' } : headers
}

const startHeaders = ({ id, model }: Step & { kind: 'started' }) => ({ 'x-model': model, 'x-generation-id': id })

function plainHeaders(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
}

function problemOf(error: unknown, { id, log }: FastifyRequest): Problem {
  if (error instanceof Problem) return error
  log.error({ request_id: id, stack: error instanceof Error ? error.stack : undefined }, 'a fault of ours')
  return new Problem('internal', `Something went wrong here. Quote ${id} when you report it.`)
}
