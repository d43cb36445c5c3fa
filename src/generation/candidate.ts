import type { Logger } from 'pino'
import { TillRefusal, type Grant, type Levels, type Replay, type Till } from '../billing/till/till.ts'
import type { Catalogue, Offer } from '../models/catalogue.ts'
import { Problem, type ProblemCode } from '../platform/problems.ts'
import { hasUnreadFiles } from './dialects/files.ts'
import { readFiles, type ImageFetcher } from './files/image-fetcher.ts'
import type { Reach } from '../billing/prices/terms.ts'
import { chooseModel, isCostlyToCount, mostOutput } from './model-choice.ts'
import { heldAt, heldInput, reachOf } from './reach.ts'
import { replayedReply, type Reply } from './reply.ts'
import type { Job, TextRequest } from './request.ts'
import type { RunningJob } from './running-jobs.ts'

/** A model considered for a request, and the most that the request can use there: what the till holds. */
export interface Candidate {
  readonly offer: Offer
  readonly inputTokens: number
  /** The tokens of the prompt as reported to the caller: without the margin that `inputTokens` adds to an estimate. */
  readonly promptTokens: number
  /** Of each choice. */
  readonly maxOutputTokens: number
  /** Undefined where the caller named the maximum. Else the hold may have room for fewer tokens, down to these. */
  readonly leastOutputTokens: number | undefined
  /** What it can reach of the rules of its price. Undefined if that has none. */
  readonly reach: Reach | undefined
}

/** A candidate whose hold is placed. */
export interface AdmittedJob {
  readonly kind: 'admitted'
  readonly candidate: Candidate
  /** The levels after the admission. */
  readonly levels: Levels
}

/** The stored reply of an earlier request with the same idempotency key. */
export interface ReplayedReply {
  readonly kind: 'replay'
  readonly reply: Reply
}

/** Chooses the model for a job and places its hold. */
export interface Candidates {
  /**
   * Holds what the job can cost at the model that it names, or at the first fallback that can count its tokens; or finds
   * the stored reply, which needs no model. Throws a Problem.
   */
  admit(job: RunningJob): Promise<AdmittedJob | ReplayedReply>
  /**
   * Moves the hold to the fallback of a model that failed before its first text, at the fallback's price. Undefined if
   * `error` is permanent, or if no fallback can take the job; the job may then be without a hold.
   */
  fallBack(job: RunningJob, failed: Candidate, error: unknown): Promise<AdmittedJob | undefined>
}

interface CandidatesNeeds {
  readonly catalogue: Catalogue
  readonly till: Till
  readonly log: Logger
  /** Default: there are no images to fetch. */
  readonly images?: Pick<ImageFetcher, 'fetch'> | undefined
}

export function createCandidates({ catalogue, till, log, images }: CandidatesNeeds): Candidates {
  async function consider(job: RunningJob, offer: Offer): Promise<Candidate> {
    job.considered.push(offer.model.id)
    try {
      const { signal, requestId, request } = job
      const input = await offer.model.count(request.prompt, {
        signal,
        requestId,
        dimensions: request.embedding?.dimensions,
      })
      const maxOutputTokens = mostOutput(offer, request, input)
      return {
        offer,
        inputTokens: heldInput(offer, request.prompt, input),
        promptTokens: input.tokens,
        maxOutputTokens,
        leastOutputTokens: leastOutput(request),
        reach: reachOf(offer, request.prompt, input, job.background !== undefined),
      }
    } catch (error) {
      const next = await nextAfter(job, offer, error)
      if (next) return next
      throw error
    }
  }

  /** The first fallback of a failed model that may be used and can take the job. */
  async function nextAfter(job: RunningJob, { fallback }: Offer, error: unknown): Promise<Candidate | undefined> {
    if (!isTemporary(error) || job.signal.aborted || fallback === undefined) return undefined
    try {
      const offer = chooseModel(catalogue, job, fallback)
      return job.considered.includes(offer.model.id) ? undefined : await consider(job, offer)
    } catch (refusal) {
      if (refusal instanceof Problem) return undefined
      throw refusal
    }
  }

  /** Finds the stored reply, or refuses a job that could not be admitted, before its tokens are counted. */
  const precheck = (job: RunningJob, offer: Offer): Promise<Replay | undefined> =>
    till.precheck(askOf(job, leastOf(job, offer))).catch((refusal: unknown) => {
      throw inTermsOf(job.request, refusal)
    })

  /** The stored reply, if a job whose tokens cannot be counted at the moment repeats an idempotency key. */
  async function storedReply(job: RunningJob, offer: Offer, error: unknown): Promise<Replay> {
    const isRepeated = isTemporary(error) && job.idempotency !== undefined
    const stored = isRepeated && (await precheck(job, offer).catch(() => undefined))
    if (stored) return stored
    throw error
  }

  return Object.freeze<Candidates>({
    async admit(job) {
      const named = chooseModel(catalogue, job, job.request.model)
      if (isCostlyToCount(job, named)) {
        const stored = await precheck(job, named)
        if (stored) return replayOf(stored, named.model.id)
        const { inputTokens, maxOutputTokens } = leastOf(job, named)
        await job.background?.look(job.payer, inputTokens + choicesOf(job.request) * maxOutputTokens)
      }
      if (hasUnreadFiles(job.request.prompt)) job.request = await readFiles(job.request, images, job.signal)
      let candidate: Candidate
      try {
        candidate = await consider(job, named)
      } catch (error) {
        return replayOf(await storedReply(job, named, error), named.model.id)
      }
      await job.background?.take(job.payer, candidate.inputTokens + choicesOf(job.request) * candidate.maxOutputTokens)
      const admission = await till.admit(askOf(job, candidate)).catch((refusal: unknown) => {
        throw inTermsOf(job.request, refusal)
      })
      if (admission.kind === 'replay') return replayOf(admission, candidate.offer.model.id)
      job.isHeld = true
      return admittedAs(job, candidate, admission)
    },

    async fallBack(job, failed, error) {
      const candidate = await nextAfter(job, failed.offer, error)
      if (!candidate) return undefined
      const { requestId: request_id } = job
      try {
        const admission = await till.reprice(askOf(job, candidate))
        const [model, fallback] = [failed.offer.model.id, candidate.offer.model.id]
        log.warn({ request_id, model, fallback }, 'a model failed; its fallback takes over')
        return admittedAs(job, candidate, admission)
      } catch (refusal) {
        log.warn({ request_id, err: refusal }, 'a request could not be held at the fallback')
        return undefined
      }
    },
  })
}

/** Problems of a model that another model may not have. */
const temporary: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'upstream_failed',
  'upstream_timeout',
  'unavailable',
  'overloaded',
])

const isTemporary = (error: unknown): boolean => error instanceof Problem && temporary.has(error.code)

/** A job with the fewest tokens that it can have: no bound follows from its length, since a token can be any text. */
function leastOf({ request, background }: Job, offer: Offer): Candidate {
  const leastOutputTokens = leastOutput(request)
  const maxOutputTokens = request.maxOutputTokens ?? leastOutputTokens ?? 1
  const reach = reachOf(offer, request.prompt, { exact: true, tokens: 1 }, background !== undefined)
  return { offer, inputTokens: 1, promptTokens: 1, maxOutputTokens, leastOutputTokens, reach }
}

/** The fewest tokens of a reply whose maximum the caller left open. */
const leastOutput = ({ maxOutputTokens, leastOutputTokens = 1 }: TextRequest): number | undefined =>
  maxOutputTokens === undefined ? leastOutputTokens : undefined

function admittedAs({ request }: Job, candidate: Candidate, { levels, maxOutputTokens: granted }: Grant): AdmittedJob {
  const maxOutputTokens = Math.floor(granted / choicesOf(request))
  return {
    kind: 'admitted',
    candidate: maxOutputTokens === candidate.maxOutputTokens ? candidate : { ...candidate, maxOutputTokens },
    levels,
  }
}

const choicesOf = ({ choices = 1 }: TextRequest): number => choices

function replayOf(stored: Replay, model: string): ReplayedReply {
  return { kind: 'replay', reply: replayedReply(stored, model) }
}

/** Refusals that a lower maximum of output tokens can avoid. */
const ofMaximum: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['insufficient_credit', 'can_never_fit_limit'])

/** A refusal that names the field as the dialect does. */
function inTermsOf({ names, maxOutputTokens }: TextRequest, refusal: unknown): unknown {
  if (!(refusal instanceof TillRefusal) || !ofMaximum.has(refusal.code)) return refusal
  const { code, message, details, levels } = refusal
  if (maxOutputTokens === undefined) {
    const ofInput = message
      .replace(', lower max_output_tokens,', '')
      .replace(/lower max_output_tokens/i, shortenTheInput)
    return new TillRefusal(code, ofInput, { ...details, field: names.input }, levels)
  }
  const field = names.maxOutputTokens
  const reason = message.replaceAll('max_output_tokens', names.reducible ?? field)
  return new TillRefusal(code, reason, { ...details, field }, levels)
}

/** As the beginning of a sentence or within one. */
const shortenTheInput = (lower: string): string => `${lower.startsWith('L') ? 'S' : 's'}horten the input`

/** The request to the till. Each choice can have the maximum. */
function askOf({ requestId, payer, idempotency, request }: Job, candidate: Candidate) {
  const { offer, inputTokens, maxOutputTokens, leastOutputTokens, reach } = candidate
  const choices = choicesOf(request)
  const tokens = {
    inputTokens,
    maxOutputTokens: choices * maxOutputTokens,
    leastOutputTokens: leastOutputTokens === undefined ? undefined : choices * leastOutputTokens,
  }
  return { requestId, payer, model: offer.model.id, ...tokens, ...heldAt(offer, reach), idempotency }
}
