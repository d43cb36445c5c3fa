import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { promptTokensOf, TillRefusal, type Levels, type Till } from '../billing/till/till.ts'
import { problemBody } from '../platform/http/errors.ts'
import { createEventStream } from '../platform/http/event-stream.ts'
import { internalReason, Problem, problems } from '../platform/problems.ts'
import type { TokenLogprob } from '../models/conversation.ts'
import type { Dialect, DialectRequest, EventWriter, PieceWriter, WireFormat } from './dialects/dialect.ts'
import type { Reply, Start, Step } from './generation.ts'
import { piecesOf } from './content.ts'
import { choicesOf } from './finished-reply.ts'
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

/** The headers of a stream and the writer of its events. */
interface Prepared {
  readonly model: string
  readonly headers: Record<string, string>
  readonly events: EventWriter
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
  let prepared: Prepared | undefined
  /** The charged part of a stream that broke off. */
  let part: Reply | undefined
  let last: readonly string[] = []

  const prepare = (start: Start, headers: Record<string, string>): Prepared => ({
    model: start.model,
    headers: { ...plainHeaders(reply), ...headersOf(dialect, start.levels), ...headers },
    events: parsed.eventWriter(start),
  })

  function begin(by: Prepared): EventWriter {
    reply.hijack()
    stream.begin(by.headers, by.events.opening)
    return by.events
  }

  async function close(made: Reply): Promise<void> {
    onReply(made)
    if (!events) {
      // A stored reply, or one without content.
      events = begin(prepare({ ...made, inputTokens: promptTokensOf(made.usage) }, replyHeaders(made)))
      for (const [index, choice] of choicesOf(made).entries()) {
        const writer = writerOf(events, index)
        for (const piece of piecesOf(choice)) {
          await stream.send(piece.kind === 'text' ? [textEvent(writer, piece)] : writer.deltas(piece.deltas))
        }
      }
    }
    last = events.closing(made)
  }

  try {
    for await (const step of steps) {
      switch (step.kind) {
        case 'admitted':
          // The call of the model leaves this process first.
          await nextTurn()
          prepared = prepare(step, startHeaders(step))
          break
        case 'started':
          events = begin(prepared?.model === step.model ? prepared : prepare(step, startHeaders(step)))
          break
        case 'texts':
          await stream.send(events ? step.texts.map(writerOf(events, step.choice).text) : [])
          break
        case 'scored':
          if (events) await stream.send([textEvent(writerOf(events, step.choice), step)])
          break
        case 'deltas':
          await stream.send(events ? writerOf(events, step.choice).deltas(step.deltas) : [])
          break
        case 'reply':
          await close(step.reply)
          break
        case 'broken':
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
    if (events) last = [events.failure(refusal, problems[problem.code].status, part)]
  }
  await stream.end(last)
}

const writerOf = (events: EventWriter, choice: number | undefined): PieceWriter =>
  (choice && events.others?.[choice - 1]) || events

/** The event of a text, with the log probabilities of its tokens if it has any. */
function textEvent(
  events: PieceWriter,
  { text, logprobs = [] }: { readonly text: string; readonly logprobs?: readonly TokenLogprob[] | undefined },
): string {
  return logprobs.length > 0 && events.scored ? events.scored(text, logprobs) : events.text(text)
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
  return new Problem('internal', internalReason(id))
}

/** Milliseconds that a refusal waits for the levels. */
const patience = 250

/** The levels for the headers of a refusal. Undefined if they cannot be read at once: that must not fail the refusal. */
export async function levelsForRefusal(
  till: Till,
  { caller }: FastifyRequest,
  error: Error,
): Promise<Levels | undefined> {
  if (error instanceof TillRefusal && error.levels) return error.levels
  if (!caller) return undefined
  const levels = till.levels(caller).catch(() => undefined)
  return Promise.race([levels, sleep(patience, undefined, { ref: false })])
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
