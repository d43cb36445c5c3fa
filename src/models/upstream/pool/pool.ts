import type { Logger } from 'pino'
import { Problem } from '../../../platform/problems.ts'
import { createBreaker, type Breaker } from './breaker.ts'
import { Failure } from '../failure.ts'
import { createTurns, type WeightedMember } from './turns.ts'

/** Attempts per request: one for each member, but at least 3 and at most 6. */
const attempts = { least: 3, most: 6 }

/** Milliseconds before the same member is tried again. Each attempt doubles them; jitter takes off up to a half. */
const backoff = 100

/** One of several servers that can do the same work. */
export interface Member extends WeightedMember {
  /** Appears in the log and in health reports. */
  readonly name: string
  /** Whether it cannot take another request now. */
  full(): boolean
}

/** Shares the work of one model between its members by weight. Skips members that keep failing until they recover. */
export interface MemberPool<Kind extends Member> {
  /**
   * Calls `work` with a member and the milliseconds that remain. After a repeatable Failure, calls it with another member,
   * or with the same one after a pause; the pause follows the upstream's Retry-After if the time allows. Resolves with
   * undefined if the caller disconnects during a pause. Throws the Problem of the last Failure, `overloaded` if all members
   * are full, or `unavailable` if all are skipped.
   */
  run<Value>(
    work: Work<Kind, Value>,
    request: PoolRequest,
  ): Promise<{ readonly value: Value; readonly member: Kind } | undefined>
  /** Records a failure of a member whose stream broke off after it began. */
  reportFailure(member: Kind, requestId: string | undefined): void
  health(): { readonly ready: boolean; readonly reason?: string }
}

/** `left` is in milliseconds. */
type Work<Kind, Value> = (member: Kind, left: number) => Promise<Value>

/** The request that the work is for. */
export interface PoolRequest {
  readonly signal: AbortSignal
  readonly limits: { readonly requestId?: string | undefined }
}

export interface PoolOptions<Kind extends Member> {
  readonly members: readonly Kind[]
  /** Milliseconds: `total` bounds all attempts and pauses, `pause` a single pause. */
  readonly total: number
  readonly pause: number
  readonly log: Logger
}

interface Entry<Kind> extends WeightedMember {
  readonly member: Kind
  readonly breaker: Breaker
  /** When the upstream's Retry-After ends. */
  pausedUntil: number
}

/** An attempt, with what is known of those before it. It begins `now` and must end by `ends`, in milliseconds. */
interface Progress<Tried> {
  readonly request: PoolRequest
  readonly now: number
  readonly ends: number
  /** From 1. */
  readonly number: number
  /** The members of the failed attempts, and until when each is left alone. */
  readonly tried?: Map<Tried, number>
  /** The member to try. Default: the one whose turn it is. */
  readonly next?: Tried
}

interface FailedAttempt<Tried> {
  readonly entry: Tried
  readonly report: ReturnType<Breaker['begin']>
  readonly error: unknown
}

export function createMemberPool<Kind extends Member>(options: PoolOptions<Kind>): MemberPool<Kind> {
  const { total, pause, log } = options
  const entries: readonly Entry<Kind>[] = options.members.map((member) => entryOf(member, log))
  const turns = createTurns(entries)
  const most = Math.min(attempts.most, Math.max(attempts.least, entries.length))

  // Few local variables: nearly every request succeeds at once, and an async function allocates memory for all of them.
  async function attempt<Value>(work: Work<Kind, Value>, progress: Progress<Entry<Kind>>) {
    const { signal, limits } = progress.request
    const entry = progress.next ?? firstMember(progress.now)
    const report = entry.breaker.begin(limits.requestId)
    try {
      const value = await work(entry.member, progress.ends - progress.now)
      report(signal.aborted ? 'unknown' : 'healthy', performance.now())
      return { value, member: entry.member }
    } catch (error) {
      return attemptAgain({ entry, report, error }, work, progress)
    }
  }

  async function attemptAgain<Value>(
    { entry, report, error }: FailedAttempt<Entry<Kind>>,
    work: Work<Kind, Value>,
    { request, ends, number, tried = new Map() }: Progress<Entry<Kind>>,
  ): Promise<{ value: Value; member: Kind } | undefined> {
    const { signal, limits } = request
    const failed = performance.now()
    if (!(error instanceof Failure)) {
      report('unknown', failed)
      throw error
    }
    // One request counts once against a member, however many attempts it makes there.
    report(tried.has(entry) ? 'unknown' : error.health, failed)
    if (error.pause > 0) entry.pausedUntil = failed + error.pause + Math.random() * backoff
    tried.set(entry, failed + spread(backoff * 2 ** (number - 1)))
    const next = error.repeatable && number < most ? nextAttempt(tried, failed, error.otherEndpointOnly) : undefined
    if (!next || next.at > Math.min(failed + pause, ends)) throw error.problem
    const { cause } = error.problem.details
    log.info(
      { request_id: limits.requestId, endpoint: entry.member.name, attempt: number, err: cause },
      'an attempt failed',
    )
    if (next.at > failed && !(await sleep(next.at - failed, signal))) return undefined
    if (signal.aborted) return undefined
    const now = performance.now()
    if (!isUsable(next.entry, now)) throw error.problem
    return attempt(work, { request, now, ends, number: number + 1, tried, next: next.entry })
  }

  function firstMember(now: number): Entry<Kind> {
    const rested = turns.next((entry) => entry.pausedUntil <= now && isUsable(entry, now))
    const chosen = rested ?? turns.next((entry) => isUsable(entry, now))
    if (chosen) return chosen
    if (entries.some(({ breaker }) => breaker.permits(now))) {
      throw new Problem('overloaded', 'The model is at capacity. Try again shortly.', {
        retryAfter: 1,
      })
    }
    const retryAt = Math.min(...entries.map(({ breaker }) => breaker.retryAt ?? now))
    const retryAfter = Math.max(1, Math.ceil((retryAt - now) / 1000))
    throw new Problem('unavailable', `The model cannot be reached. Try again in ${retryAfter} s.`, { retryAfter })
  }

  /** The next member to try, and when: an untried member now, or else the member whose pause ends first. */
  function nextAttempt(tried: ReadonlyMap<Entry<Kind>, number>, now: number, otherEndpointOnly: boolean) {
    const fresh = turns.next((entry) => !tried.has(entry) && entry.pausedUntil <= now && isUsable(entry, now))
    if (fresh) return { entry: fresh, at: now }
    return entries
      .filter((entry) => isUsable(entry, now) && !(otherEndpointOnly && tried.has(entry)))
      .map((entry) => ({ entry, at: Math.max(entry.pausedUntil, tried.get(entry) ?? 0, now) }))
      .toSorted((one, other) => one.at - other.at)[0]
  }

  return Object.freeze({
    run<Value>(work: Work<Kind, Value>, request: PoolRequest) {
      const now = performance.now()
      return attempt(work, { request, now, ends: now + total, number: 1 })
    },
    reportFailure(member: Kind, requestId: string | undefined) {
      const breaker = entries.find((entry) => entry.member === member)?.breaker
      if (breaker?.retryAt === undefined) breaker?.begin(requestId)('failing', performance.now())
    },
    health: () => healthOf(entries),
  })
}

function entryOf<Kind extends Member>(member: Kind, log: Logger): Entry<Kind> {
  const endpoint = member.name
  const breaker = createBreaker(({ state, failures, requestId: request_id }) => {
    if (state === 'open') log.warn({ request_id, endpoint, failures }, 'an endpoint keeps failing: skipped for now')
    else log.info({ request_id, endpoint }, 'an endpoint has recovered')
  })
  return { member, weight: member.weight, pausedUntil: 0, breaker }
}

function healthOf(entries: readonly Entry<Member>[]) {
  const now = performance.now()
  const failing = entries.filter(({ breaker }) => breaker.retryAt !== undefined)
  const ready = entries.some(({ breaker }) => (breaker.retryAt ?? now) <= now)
  if (failing.length === 0) return { ready }
  return { ready, reason: `skipped because they keep failing: ${failing.map(({ member }) => member.name).join(', ')}` }
}

const isUsable = ({ member, breaker }: Entry<Member>, now: number): boolean => breaker.permits(now) && !member.full()

const spread = (milliseconds: number): number => milliseconds * (0.5 + Math.random() * 0.5)

/** Resolves with false if `signal` aborts before the time is up. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve(!signal.aborted)
    }
    const timer = setTimeout(wake, milliseconds)
    signal.addEventListener('abort', wake)
  })
}
