import type { AdmittedJob, Candidate, Candidates } from './candidate.ts'
import { Problem } from '../platform/problems.ts'
import type { Levels } from '../billing/till/till.ts'
import { createReplyCallIds } from '../models/call-ids.ts'
import type { ReplyPart } from '../models/conversation.ts'
import type { Prompt, WholeReply } from '../models/model.ts'
import { checkFinished, readStream, type FinishedReply, type StreamedPiece } from './finished-reply.ts'
import { canSearch } from './model-choice.ts'
import { limitsOf } from './request.ts'
import { createTruncation, truncate } from './truncation.ts'
import type { RunningJob } from './running-jobs.ts'

/** A model at work on a job: the whole reply, or a stream that has begun. */
export interface Run<Started> {
  /** The candidate that was called last, whose hold is in place. */
  readonly candidate: Candidate
  readonly levels: Levels
  readonly started: Started
}

/** Calls a model. Throws the model's Problem. */
type Start<Started> = (job: RunningJob, candidate: Candidate) => Promise<Started>

/** A stream at its first part, or at its end if it has none. */
interface StartedStream {
  readonly parts: AsyncGenerator<StreamedPiece, FinishedReply, void>
  readonly first: IteratorResult<StreamedPiece, FinishedReply>
}

/** Calls the candidate's model. A model that fails before its first text is replaced by its fallback. */
export function createRun(candidates: Pick<Candidates, 'fallBack'>) {
  // One `then` with both outcomes instead of an async function: this is on the path of every request.
  function run<Started>(
    job: RunningJob,
    { candidate, levels }: AdmittedJob,
    start: Start<Started>,
  ): Promise<Run<Started>> {
    if (job.signal.aborted) return Promise.reject(disconnected())
    return start(job, candidate).then(
      (started) => ({ candidate, levels, started }),
      async (error: unknown) => {
        const admitted = await candidates.fallBack(job, candidate, error)
        if (admitted) return run(job, admitted, start)
        throw error
      },
    )
  }
  return run
}

/** A model without reasoning or searches gets no request for them: what was accepted asks for no more than the model does by itself. */
function promptFor({ request: { prompt } }: RunningJob, offer: Candidate['offer']): Prompt {
  const asks =
    prompt.reasoning && !offer.model.capabilities.has('reasoning') ? { ...prompt, reasoning: undefined } : prompt
  return asks.search && !canSearch(offer) ? { ...asks, search: undefined } : asks
}

export const startWhole: Start<FinishedReply> = (job, { offer, maxOutputTokens }) => {
  const limits = limitsOf(job, maxOutputTokens)
  const prompt = promptFor(job, offer)
  return offer.model
    .run(prompt, limits, job.signal)
    .then((reply) => truncate(checkFinished(withUniqueCalls(reply, prompt), job.signal), limits))
}

/** The ids of a choice are unique in the conversation that continues with it. */
function withUniqueCalls(reply: WholeReply, { messages }: Prompt): WholeReply {
  const unique = (parts: readonly ReplyPart[]) => createReplyCallIds(messages).inParts(parts)
  const first = reply.parts ? { ...reply, parts: unique(reply.parts) } : reply
  const others = reply.others?.map((each) => (each.parts ? { ...each, parts: unique(each.parts) } : each))
  return others ? { ...first, others } : first
}

/** Embeddings of the prompt's messages, and what they used; none if the caller disconnected. Throws the model's Problem. */
export async function runEmbedding(job: RunningJob, { offer }: Candidate): Promise<FinishedReply> {
  const { signal, requestId, request, payer, background } = job
  if (signal.aborted) throw disconnected()
  const { prompt, embedding } = request
  if (!offer.model.embed || !embedding) throw new Error('a model without embeddings was chosen')
  const { vectors, usage } = await offer.model.embed(
    prompt,
    { ...embedding, requestId, account: payer.accountId, yields: background !== undefined },
    signal,
  )
  const finished = checkFinished({ text: '', stopReason: vectors ? 'complete' : 'cancelled', usage }, signal)
  return { ...finished, vectors: vectors ?? [] }
}

export const startStream: Start<StartedStream> = async (job, { offer, maxOutputTokens }) => {
  const limits = limitsOf(job, maxOutputTokens)
  const stop = new AbortController()
  job.signal.addEventListener('abort', () => stop.abort(), { once: true })
  const prompt = promptFor(job, offer)
  const stream = offer.model.stream(prompt, limits, stop.signal)
  const needs = () => ({ truncation: createTruncation(limits), callIds: createReplyCallIds(prompt.messages) })
  const others = limits.choices === undefined ? undefined : Array.from({ length: limits.choices - 1 }, needs)
  const parts = readStream(stream, { ...needs(), others, isScored: limits.logprobs !== undefined, stop })
  return { parts, first: await parts.next() }
}

const disconnected = (): Problem =>
  new Problem('malformed_request', 'The caller disconnected before the model was called.')
