import type { Logger } from 'pino'
import type { Caller } from '../accounts/keys/keys.ts'
import type { Payer } from '../billing/payer.ts'
import { promptTokensOf, type Till } from '../billing/till/till.ts'
import { checkAttribution, payerOf, type IsClient } from '../generation/calls/caller.ts'
import type { QueuedCalls } from '../generation/calls/queued-calls.ts'
import type { BackgroundJob, Job, Reply } from '../generation/generation.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { internalReason, Problem, problems, type ProblemCode } from '../platform/problems.ts'
import { contexts, lineKey } from './batch.ts'
import { readLine, unnamed } from './lines.ts'
import * as store from './queue-store.ts'
import { resultLine } from './result-lines.ts'

export interface RunnerNeeds {
  readonly database: Database
  readonly encryption: Encryption
  readonly till: Pick<Till, 'storedReply' | 'takeSpare' | 'returnSpare'>
  readonly calls: QueuedCalls
  readonly isClient: IsClient
  readonly log: Logger
  /** Called for every charged reply. */
  readonly onCharged?: ((model: string, usage: Reply['usage']) => void) | undefined
}

/** Runs a line to its end, or queues it again. `caller`: undefined if the key can no longer pay; only what was charged before is then used. */
type RunLine = (batch: store.DueBatch, line: store.TakenLine, caller: Caller | undefined) => Promise<void>

/** Tries of a line whose model fails. */
const mostTries = 3
/** ms. */
const [shortPause, creditPause, longestPause, longestWait] = [1000, 30_000, 60_000, 2000]

/** Problems that pass without a change to the line, which is retried until the batch expires. */
const passing: ReadonlyMap<ProblemCode, 'limits' | 'credit' | 'model'> = new Map([
  ['rate_limit_exceeded', 'limits'],
  ['insufficient_credit', 'credit'],
  ['idempotency_in_progress', 'model'],
  ['overloaded', 'model'],
  ['unavailable', 'model'],
])

/** Problems after which the request may have been charged. */
const uncertain: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['unavailable', 'internal', 'idempotency_in_progress'])

/** `closing`: gives up what is running. */
export function createRunner(needs: RunnerNeeds, closing: AbortSignal): RunLine {
  const { database, encryption, till, calls, isClient, log, onCharged } = needs

  function open(batch: store.DueBatch, line: store.TakenLine): OpenLine {
    const { id: batchId, accountId, dialect, source } = batch
    const { number, requestId, content } = line
    const common = { batch, line, claim: { batchId, number, requestId } }
    const text = encryption.decrypt(content, contexts.line(accountId, source, number))
    if (text === undefined) return { ...common, customId: unnamed(number), fault: undecryptable() }
    const bytes = Buffer.from(text)
    try {
      return { ...common, ...readLine(dialect, bytes), bytes: bytes.length }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return { ...common, customId: unnamed(number), fault: error }
    }
  }

  async function end(
    opened: OpenLine,
    {
      status,
      body,
      ...how
    }: Pick<store.LineEnd, 'state' | 'chargedAs'> & {
      readonly status: number
      readonly body: string
    },
  ): Promise<void> {
    const { batch, claim, customId } = opened
    const { id, accountId, dialect } = batch
    const text = resultLine(dialect, { customId, requestId: how.chargedAs ?? claim.requestId, status, body })
    const result = encryption.encrypt(text, contexts.result(accountId, id, claim.number))
    const storedAs = lineKey(id, claim.number)
    const other = await store.endLine(database, { ...claim, ...how, accountId, result, storedAs })
    if (other !== undefined) await waitFor(opened, other)
  }

  /** For a request of another instance that is in flight for the line, or was charged: the line then ends with its reply. */
  const waitFor = (opened: OpenLine, requestId: string) =>
    again(opened, { pause: shortPause, waitsFor: 'model', counts: false, mayBeCharged: requestId })

  /** `chargedAs`: the request whose reply was lost. */
  function fail(opened: OpenLine, problem: Problem, chargedAs: string | null = null): Promise<void> {
    const { status, body } = calls.refusal(opened.batch.endpoint, problem, chargedAs ?? opened.claim.requestId)
    return end(opened, { state: 'failed', chargedAs, status, body: JSON.stringify(body) })
  }

  const again = ({ claim }: OpenLine, how: Omit<store.LineRetry, keyof store.LineClaim>) =>
    store.queueAgain(database, { ...claim, ...how })

  /** Ends a line that an earlier try has charged, with the reply that was stored then: it is paid, whatever would refuse the line now. */
  async function endCharged(opened: OpenLine, chargedAs: string): Promise<void> {
    const { accountId, keyId, endpoint, id } = opened.batch
    const stored = await till.storedReply({ accountId, keyId }, lineKey(id, opened.claim.number))
    const made = stored && !('fault' in opened) && (await replay(endpoint, opened.body, stored))
    if (made) await end(opened, { state: 'succeeded', chargedAs: made.reply.id, status: 200, body: made.body })
    else await fail(opened, lost(), chargedAs)
  }

  /** Undefined if a later version no longer reads the body. */
  async function replay(...of: Parameters<QueuedCalls['replay']>) {
    try {
      return await calls.replay(...of)
    } catch (error) {
      if (error instanceof Problem) return undefined
      throw error
    }
  }

  /** Whether the line has ended, or waits, because of an earlier try. */
  async function endsByEarlierTry(opened: OpenLine, previous: string | null): Promise<boolean> {
    if (previous === null) return false
    const found = await store.readEarlierTry(database, previous)
    if (found === 'charged') await endCharged(opened, previous)
    else if (found === 'held') await waitFor(opened, previous)
    else if (opened.batch.isEnding) await leaveUnrun(opened)
    else return false
    return true
  }

  async function leaveUnrun(opened: OpenLine): Promise<void> {
    const { id, accountId } = opened.batch
    const storedAs = lineKey(id, opened.claim.number)
    const other = await store.barLine(database, { ...opened.claim, accountId, storedAs })
    if (other !== undefined) return waitFor(opened, other)
    return again(opened, { pause: 0, waitsFor: 'model', counts: false, mayBeCharged: null })
  }

  /** Ends or queues a line whose call was refused or has failed. */
  async function failed(opened: OpenLine, error: unknown, wait: number | undefined): Promise<void> {
    const { batch, line, claim } = opened
    const { requestId } = claim
    // However the aborted call ended.
    if (closing.aborted) return again(opened, { pause: 0, waitsFor: 'model', counts: false, mayBeCharged: requestId })
    const problem = error instanceof Problem ? error : new Problem('internal', internalReason(requestId))
    if (problem.code === 'internal') log.error({ request_id: requestId, batch: batch.id, err: error }, 'internal error')
    const { code, details } = problem
    // While an earlier try is in progress, this one was not admitted.
    const tried = code === 'idempotency_in_progress' ? (line.previous ?? requestId) : requestId
    // The instance that made the earlier try may only have been suspended.
    const mayBeCharged = uncertain.has(code) ? tried : line.previous
    const waitsFor = passing.get(code)
    if (waitsFor !== undefined) {
      return again(opened, {
        pause: Math.min(longestPause, pauseFor(problem, wait)),
        waitsFor,
        counts: false,
        mayBeCharged,
      })
    }
    const { retry = problems[code].retry } = details
    if (retry && line.tries + 1 < mostTries) {
      return again(opened, { pause: shortPause * 2 ** line.tries, waitsFor: 'model', counts: true, mayBeCharged })
    }
    if (!(await endsByEarlierTry(opened, mayBeCharged))) await fail(opened, problem)
  }

  /** Throws a Problem if another instance has taken the line, or its caller may no longer name its client. */
  async function check(opened: OpenLine, caller: Caller, clientId: string | undefined): Promise<void> {
    if ((await store.renewLines(database, [opened.claim])) === 0) throw taken()
    if (clientId !== undefined) await checkAttribution(caller, clientId, isClient)
  }

  return async (batch, line, caller) => {
    const opened = open(batch, line)
    if (await endsByEarlierTry(opened, line.previous)) return
    if ('fault' in opened) return fail(opened, opened.fault)
    if (caller === undefined) {
      return again(opened, { pause: 0, waitsFor: 'model', counts: false, mayBeCharged: null })
    }
    const { requestId } = opened.claim
    let spare: Spare | undefined
    let reply: Reply | undefined
    try {
      const call = calls.read(batch.endpoint, opened.body, opened.bytes)
      spare = createSpare(till, () => check(opened, caller, call.request.clientId))
      const job: Job = {
        requestId,
        request: call.request,
        payer: payerOf(caller, call.request),
        allowedModels: caller.allowedModels,
        signal: closing,
        stop: closing,
        idempotency: { key: lineKey(batch.id, line.number), hash: batch.id },
        background: spare,
      }
      const made = await call.make(job)
      reply = made.reply
      if (!reply.replayed) onCharged?.(reply.model, reply.usage)
      await end(opened, { state: 'succeeded', chargedAs: reply.id, status: 200, body: made.body })
    } catch (error) {
      if (reply !== undefined) throw error
      await failed(opened, error, spare?.wait())
    } finally {
      await spare?.giveBack(reply)
    }
  }
}

/** A line that was taken. `fault`: why it cannot be read. */
type OpenLine = {
  readonly batch: store.DueBatch
  readonly line: store.TakenLine
  readonly claim: store.LineClaim
  readonly customId: string
} & ({ readonly body: unknown; readonly bytes: number } | { readonly fault: Problem })

/** What one line takes of what other requests leave, and gives back. */
interface Spare extends BackgroundJob {
  /** The ms until there may be enough, if there was not. */
  wait(): number | undefined
  giveBack(reply: Reply | undefined): Promise<void>
}

/** `check` throws what a line must not go ahead for. */
function createSpare(till: RunnerNeeds['till'], check: () => Promise<void>): Spare {
  let taken: { readonly payer: Payer; readonly tokens: number } | undefined
  let wait: number | undefined
  async function takeOrThrow(payer: Payer, tokens: number): Promise<void> {
    const ms = await till.takeSpare(payer, tokens)
    if (ms === 0) return
    wait = ms
    throw new Problem('rate_limit_exceeded', 'Other requests need the limits of the account.')
  }

  return {
    async look(payer, tokens) {
      await takeOrThrow(payer, tokens)
      await till.returnSpare(payer, { requests: 1, taken: tokens, used: 0 })
    },
    async take(payer, tokens) {
      await check()
      await takeOrThrow(payer, tokens)
      taken = { payer, tokens }
    },
    wait: () => wait,
    async giveBack(reply) {
      if (taken === undefined) return
      const used = reply === undefined || reply.replayed ? 0 : promptTokensOf(reply.usage) + reply.usage.outputTokens
      // Lost, it is gained again within a minute.
      const { payer, tokens } = taken
      await till.returnSpare(payer, { requests: 0, taken: tokens, used }).catch(() => undefined)
    },
  }
}

function pauseFor({ code, details }: Problem, wait: number | undefined): number {
  // What other lines have taken and do not need comes back earlier.
  if (wait !== undefined) return Math.min(wait, longestWait)
  if (details.retryAfter !== undefined) return details.retryAfter * 1000
  return code === 'insufficient_credit' ? creditPause : shortPause
}

const undecryptable = (): Problem =>
  new Problem('internal', 'The request was encrypted with another key and can no longer be read.')

const taken = (): Problem => new Problem('unavailable', 'Another instance has taken this line.')

const lost = (): Problem =>
  new Problem(
    'internal',
    'This request was charged, and its reply was lost before it could be kept. It is not charged again.',
  )
