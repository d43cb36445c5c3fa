import type { FastifyReply, FastifyRequest } from 'fastify'
import { problemBody } from '../platform/http/errors.ts'
import { createEventStream } from '../platform/http/event-stream.ts'
import type { DraftStep } from './drafting.ts'

interface Delivery {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The URL that links to the documentation start with. */
  readonly baseUrl: string
}

/** Whether the sender wants the result alone, at the end. Default: a stream of events. */
export function wantsWhole({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('application/json') && !accept.includes('text/event-stream')
}

/** Reads the steps to their end, and returns the last one. Throws its problem. */
export async function resultOf(steps: AsyncIterable<DraftStep>): Promise<object> {
  for await (const step of steps) {
    if (step.kind === 'failed') throw step.problem
    if (step.kind === 'ended') return { draft: step.draft, letter: step.letter }
  }
  throw new Error('a draft had no end')
}

/** Sends the steps as events. Throws a failure before the first of them. Reads them to their end in any case. */
export async function streamDraft(steps: AsyncIterable<DraftStep>, { request, reply, baseUrl }: Delivery) {
  const stream = createEventStream(reply.raw)
  const begin = () => {
    if (stream.begun) return
    reply.hijack()
    stream.begin(Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)])))
  }
  for await (const step of steps) {
    begin()
    if (step.kind === 'failed') request.refusedAs = step.problem.code
    await stream.send(eventsOf(step, (problem) => problemBody(baseUrl, problem, request.id).error))
  }
  stream.end()
}

type ErrorOf = (problem: Extract<DraftStep, { kind: 'failed' }>['problem']) => object

function eventsOf(step: DraftStep, errorOf: ErrorOf): string[] {
  switch (step.kind) {
    case 'started':
      return [event('started', { id: step.id, model: step.model })]
    case 'texts':
      return step.texts.map((text) => event('delta', { text }))
    case 'ended':
      return [event('done', { draft: step.draft, letter: step.letter })]
    case 'failed':
      return [event('error', { error: errorOf(step.problem), draft: step.draft })]
  }
}

/** One event (WHATWG HTML, section 9.2). Serialized JSON contains no line breaks. */
const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
