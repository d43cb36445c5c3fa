import type { FastifyReply, FastifyRequest } from 'fastify'
import { problemBody } from '../platform/http/errors.ts'
import { createEventStream } from '../platform/http/event-stream.ts'
import { Problem } from '../platform/problems.ts'
import { repeat } from '../platform/flow/repeat.ts'
import type { DraftStep } from './drafting.ts'

interface Delivery {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The URL that links to the documentation start with. */
  readonly baseUrl: string
  /** Whether the person who asked for the draft is still signed in. */
  readonly isSignedIn: () => Promise<boolean>
}

/** ms between two looks at the session. */
const pause = 500

/** Whether the sender wants the result alone, at the end. Default: a stream of events. */
export function wantsWhole({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('application/json') && !accept.includes('text/event-stream')
}

/** Reads the steps to their end, and returns the last one. Throws its problem, or that the reader has signed out. */
export async function resultOf(steps: AsyncIterable<DraftStep>, { isSignedIn }: Delivery): Promise<object> {
  for await (const step of steps) {
    if (step.kind === 'failed') throw step.problem
    if (step.kind !== 'ended') continue
    if (!(await isSignedIn())) throw sessionEnded()
    return { draft: step.draft, letter: step.letter }
  }
  throw new Error('a draft had no end')
}

/**
 * Sends the steps as events. Throws a failure before the first of them. Reads them to their end in any case; a reader who
 * signs out receives no more of them.
 */
export async function streamDraft(steps: AsyncIterable<DraftStep>, delivery: Delivery): Promise<void> {
  const { request, reply, baseUrl, isSignedIn } = delivery
  const stream = createEventStream(reply.raw)
  let isOver = false
  const watching = repeat({ name: 'watching a session', pause, work: look, log: request.log })

  async function look(): Promise<void> {
    if (isOver || (await isSignedIn()) || isOver) return
    isOver = true
    await send({ kind: 'failed', problem: sessionEnded(), draft: null })
    await stream.end()
  }

  async function send(step: DraftStep): Promise<void> {
    if (!stream.begun) {
      reply.hijack()
      stream.begin(Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)])))
    }
    if (step.kind === 'failed') request.refusedAs = step.problem.code
    await stream.send(eventsOf(step, (problem) => problemBody(baseUrl, problem, request.id).error))
  }

  async function sendAll(): Promise<void> {
    for await (const step of steps) {
      if (!isOver) await send(step)
    }
  }

  const failure = await sendAll().then(
    () => undefined,
    (error: unknown) => error,
  )
  await watching.stop()
  if (failure !== undefined && !isOver) throw failure
  await stream.end()
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

function sessionEnded(): Problem {
  const reason = 'Your session has ended. The letter is being finished: sign in again to find it in the record.'
  return new Problem('not_signed_in', reason)
}
