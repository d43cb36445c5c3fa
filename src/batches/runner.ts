import type { Logger } from 'pino'
import type { Caller } from '../accounts/keys/keys.ts'
import type { Payer } from '../billing/payer.ts'
import { promptTokensOf, type Till } from '../billing/till/till.ts'
import { payerOf } from '../generation/calls/caller.ts'
import type { QueuedCalls } from '../generation/calls/queued-calls.ts'
import type { BackgroundJob, Job, Reply } from '../generation/generation.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { internalReason, Problem, problems, type ProblemCode } from '../platform/problems.ts'
import { contexts, lineKey } from './batch.ts'
import { readLine } from './lines.ts'
import * as store from './queue-store.ts'
import { resultLine } from './result-lines.ts'

export interface RunnerNeeds {
  readonly database: Database
  readonly encryption: Encryption
  readonly till: Pick<Till, 'takeSpare' | 'returnSpare'>
  readonly calls: QueuedCalls
  readonly log: Logger
  /** Called for every charged reply. */
  readonly onCharged?: ((model: string, usage: Reply['usage']) => void) | undefined
}

/** Runs a line to its end, or queues it again. `caller`: undefined if the key can no longer pay; only a reply already charged is then used. */
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
  const { database, encryption, till, calls, log, onCharged } = needs

  async function end(
    { batch, line, customId }: OpenLine,
    { chargedAs, status, body }: { readonly chargedAs: string | null; readonly status: number; readonly body: string },
  ): Promise<void> {
    const [{ id: batchId, accountId, dialect }, { number }] = [batch, line]
    const text = resultLine(dialect, { customId, requestId: chargedAs ?? line.requestId, status, body })
    const result = encryption.encrypt(text, contexts.result(accountId, batchId, number))
    const state = chargedAs === null ? 'failed' : 'succeeded'
    const storedAs = lineKey(batchId, number)
    await store.endLine(database, { batchId, number, accountId, state, result, chargedAs, storedAs })
  }

  function fail(open: OpenLine, problem: Problem): Promise<void> {
    const { status, body } = calls.refusal(open.batch.endpoint, problem, open.line.requestId)
    return end(open, { chargedAs: null, status, body: JSON.stringify(body) })
  }

  const again = ({ batch, line }: Omit<OpenLine, 'customId'>, how: Omit<store.LineRetry, 'batchId' | 'number'>) =>
    store.queueAgain(database, { batchId: batch.id, number: line.number, ...how })

  /** Whether the line has ended, or waits, because of an earlier try. */
  async function endsByEarlierTry(open: OpenLine): Promise<boolean> {
    const { batch, line } = open
    if (line.previous === null) return false
    const { previous: requestId } = line
    const storedAs = lineKey(batch.id, line.number)
    const found = await store.readEarlierTry(database, { requestId, accountId: batch.accountId, storedAs })
    if (found === 'stored') return false
    if (found === 'lost') await fail(open, lost())
    else if (found === 'held') {
      await again(open, { pause: shortPause, waitsFor: 'model', counts: false, mayBeCharged: requestId })
    } else if (batch.isEnding) await again(open, { pause: 0, waitsFor: 'model', counts: false, mayBeCharged: null })
    else return false
    return true
  }

  /** Ends or queues a line whose call was refused or has failed. */
  async function failed(open: OpenLine, error: unknown, wait: number | undefined): Promise<void> {
    const { line, batch } = open
    const problem = error instanceof Problem ? error : new Problem('internal', internalReason(line.requestId))
    if (problem.code === 'internal')
      log.error({ request_id: line.requestId, batch: batch.id, err: error }, 'internal error')
    const { code, details } = problem
    const mayBeCharged = uncertain.has(code) ? line.requestId : null
    const waitsFor = passing.get(code)
    if (waitsFor !== undefined) {
      const pause = closing.aborted ? 0 : Math.min(longestPause, pauseFor(problem, wait))
      return again(open, { pause, waitsFor, counts: false, mayBeCharged })
    }
    const { retry = problems[code].retry } = details
    if (!retry || line.tries + 1 >= mostTries) return fail(open, problem)
    return again(open, { pause: shortPause * 2 ** line.tries, waitsFor: 'model', counts: true, mayBeCharged })
  }

  return async (batch, line, caller) => {
    const { accountId, keyId, dialect, endpoint, source } = batch
    const { number, requestId, content } = line
    const text = encryption.decrypt(content, contexts.line(accountId, source, number))
    const unnamed = { batch, line, customId: `line ${number}` }
    if (text === undefined) return fail(unnamed, undecryptable())
    const bytes = Buffer.from(text)
    const { customId, body } = readLine(dialect, bytes)
    const open = { ...unnamed, customId }
    if (await endsByEarlierTry(open)) return
    const spare = createSpare(till)
    let reply: Reply | undefined
    try {
      const call = calls.read(endpoint, body, bytes.length)
      const job: Job = {
        requestId,
        request: call.request,
        payer: caller ? payerOf(caller, call.request) : { accountId, keyId, clientId: call.request.clientId },
        allowedModels: caller?.allowedModels ?? null,
        signal: closing,
        idempotency: { key: lineKey(batch.id, number), hash: batch.id },
        background: spare,
      }
      const made = await call.make(job)
      reply = made.reply
      if (!reply.replayed) onCharged?.(reply.model, reply.usage)
      await end(open, { chargedAs: reply.id, status: 200, body: made.body })
    } catch (error) {
      if (reply !== undefined) throw error
      await failed(open, error, spare.wait())
    } finally {
      await spare.giveBack(reply)
    }
  }
}

interface OpenLine {
  readonly batch: store.DueBatch
  readonly line: store.TakenLine
  readonly customId: string
}

/** What one line takes of what other requests leave, and gives back. */
interface Spare extends BackgroundJob {
  /** The ms until there may be enough, if there was not. */
  wait(): number | undefined
  giveBack(reply: Reply | undefined): Promise<void>
}

function createSpare(till: RunnerNeeds['till']): Spare {
  let taken: { readonly payer: Payer; readonly tokens: number } | undefined
  let wait: number | undefined
  return {
    async take(payer, tokens) {
      const ms = await till.takeSpare(payer, tokens)
      if (ms === 0) taken = { payer, tokens }
      else {
        wait = ms
        throw new Problem('rate_limit_exceeded', 'Other requests need the limits of the account.')
      }
    },
    wait: () => wait,
    async giveBack(reply) {
      if (taken === undefined) return
      const used = reply === undefined || reply.replayed ? 0 : promptTokensOf(reply.usage) + reply.usage.outputTokens
      const tokens = Math.max(0, taken.tokens - used)
      // Lost, it is gained again within a minute.
      await till.returnSpare(taken.payer, { requests: 0, tokens }).catch(() => undefined)
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

const lost = (): Problem =>
  new Problem(
    'internal',
    'This request was charged, and its reply was lost before it could be kept. It is not charged again.',
  )
