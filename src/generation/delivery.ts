import type { FastifyReply, FastifyRequest } from 'fastify'
import { promptTokensOf, type Levels } from '../billing/till.ts'
import { problemBody } from '../platform/http/errors.ts'
import { createEventStream } from '../platform/http/event-stream.ts'
import { Problem, problems } from '../platform/problems.ts'
import type { Dialect, DialectRequest, WireFormat, EventWriter } from './dialects/dialect.ts'
import type { Reply, Start, Step } from './generation.ts'
import { piecesOf } from './content.ts'
import { limitHeaders } from './limit-headers.ts'
import { replyHeaders } from './reply.ts'

/** One HTTP request and the form of its reply. */
export interface Delivery {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly dialect: Dialect
  readonly parsed: DialectRequest
  /** The URL that links to the documentation start with. */
  readonly baseUrl: string
  /** Called with every reply, complete or not, before it is sent. */
  readonly onReply: (reply: Reply) => void
  /** Called for a stream that broke off and was not charged. */
  readonly onFailure: (problem: Problem) => void
}

/** Sets the headers of a whole reply and returns its body. */
export function deliverWhole(made: Reply, { reply, parsed, dialect, onReply }: Delivery): string {
  onReply(made)
  reply.headers(headersOf(dialect, made.levels)).headers(replyHeaders(made)).type('application/json; charset=utf-8')
  return parsed.wholeBody(made)
}

/**
 * Sends a stream of events. Throws a failure before the first text, when nothing has been sent; later failures are the
 * stream's last event. Reads the steps to their end, even after the caller has disconnected.
 */
export async function deliverStream(steps: AsyncIterable<Step>, delivery: Delivery): Promise<void> {
  const { request, reply, dialect, parsed, onReply, onFailure } = delivery
  const stream = createEventStream(reply.raw)
  let events: EventWriter | undefined
  /** The charged part of a stream that broke off. */
  let part: Reply | undefined

  async function begin(start: Omit<Start, 'levels'>, levels: Levels, headers: Record<string, string>) {
    reply.headers(headersOf(dialect, levels)).headers(headers)
    reply.hijack()
    stream.begin(plainHeaders(reply))
    const begun = parsed.eventWriter(start)
    await stream.send(begun.opening)
    return begun
  }

  async function close(made: Reply): Promise<void> {
    onReply(made)
    if (!events) {
      // A stored reply, or one without content.
      events = await begin({ ...made, inputTokens: promptTokensOf(made.usage) }, made.levels, replyHeaders(made))
      for (const piece of piecesOf(made)) {
        await stream.send(piece.kind === 'text' ? [events.text(piece.text)] : events.deltas(piece.deltas))
      }
    }
    await stream.send(events.closing(made))
  }

  try {
    for await (const step of steps) {
      if (step.kind === 'started') events = await begin(step, step.levels, startHeaders(step))
      else if (step.kind === 'texts') await stream.send(events ? step.texts.map(events.text) : [])
      else if (step.kind === 'deltas') await stream.send(events?.deltas(step.deltas) ?? [])
      else if (step.kind === 'reply') await close(step.reply)
      else {
        part = step.reply
        onReply(part)
        throw step.problem
      }
    }
  } catch (error) {
    if (!stream.begun) throw error
    const problem = problemOf(error, request)
    request.refusedAs = problem.code
    if (!part) onFailure(problem)
    const { error: refusal } = problemBody(delivery.baseUrl, problem, request.id)
    if (events) await stream.send([events.failure(refusal, problems[problem.code].status, part)])
  }
  stream.end()
}

/** The levels as headers, by our names and by those of the dialect. */
export function headersOf(wireFormat: WireFormat | undefined, levels: Levels): Record<string, string> {
  const ours = limitHeaders(levels)
  return wireFormat?.limitHeaders ? { ...ours, ...wireFormat.limitHeaders(levels) } : ours
}

const startHeaders = ({ id, model }: Start) => ({ 'x-model': model, 'x-generation-id': id })

function plainHeaders(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]))
}

function problemOf(error: unknown, { id, log }: FastifyRequest): Problem {
  if (error instanceof Problem) return error
  log.error({ request_id: id, err: error }, 'internal error')
  return new Problem('internal', `Internal error. Quote the request id ${id} to support.`)
}
