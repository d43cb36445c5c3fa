import * as store from './drafting-store.ts'
import type { Logger } from 'pino'
import { byService, personIdOf, type Visit } from '../access/actor.ts'
import { may } from '../access/policy.ts'
import { recordId } from '../platform/database/uuid.ts'
import type { Records } from '../clients/records.ts'
import type { Generation, Job, Reply } from '../generation/generation.ts'
import { internalReason, Problem } from '../platform/problems.ts'
import type { DraftFailure, Endings } from './endings.ts'
import type { DraftPayer } from './payment.ts'
import { presentDraft } from './present.ts'
import { leastReply, mostCharactersPerToken, promptInput, tooLong } from './prompt.ts'
import type { NewDraft, ShownDraft } from './schema.ts'
import { watch } from './watch.ts'

/** What a person asks a model to write, with the ids of records as the person sent them. */
export interface DraftRequest extends NewDraft {
  /** The id of the draft: that of the request, or one made from its idempotency key. */
  readonly id: string
}

type Letter = Awaited<ReturnType<Records['letters']['read']>>

/**
 * One step of a draft: `started` before its first text, if there is any; the texts; and last, once, `ended`, or `failed`
 * with the problem that ended it and the draft, unless the person may no longer see it. A repeated request has only
 * `ended`, with a draft that may be running.
 */
export type DraftStep =
  | { readonly kind: 'started'; readonly id: string; readonly model: string }
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  | { readonly kind: 'ended'; readonly draft: ShownDraft; readonly letter: Letter | null }
  | { readonly kind: 'failed'; readonly problem: Problem; readonly draft: ShownDraft | null }

interface RunNeeds {
  readonly records: Pick<Records, 'access' | 'letters'>
  readonly generation: Generation
  readonly endings: Endings
  readonly currency: string
  readonly log: Logger
  /** Called for every charged draft. */
  readonly onCharged?: ((model: string, usage: Reply['usage']) => void) | undefined
}

interface DraftOfClient {
  readonly id: string
  readonly clientId: string
}

/** A draft that is recorded as started, and what its model is to read. */
interface StartedDraft extends DraftOfClient {
  readonly sources: readonly store.ReadSource[]
  /** What the model reads. */
  readonly input: string
}

/** A draft in progress. */
interface DraftJob {
  readonly visit: Visit
  readonly asked: DraftRequest
  readonly started: StartedDraft
  readonly paid: DraftPayer
  readonly stop: AbortController
}

/** The drafts that this instance works on. */
export function createRuns({ records, generation, endings, currency, log, onCharged }: RunNeeds) {
  const { access, letters } = records
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>()

  /**
   * Records the draft; null if a request with the same idempotency key has. Nothing of another client is read, whatever ids
   * the person sends.
   */
  async function start(
    visit: Visit,
    clientId: string,
    asked: DraftRequest,
    { model, contextTokens }: DraftPayer,
  ): Promise<StartedDraft | null> {
    const { id, instructions, subject, letter } = asked
    const [notes, disputes] = [distinct(asked.notes), distinct(asked.disputes)]
    const documents = distinctDocuments(asked.documents)
    if (notes.length + disputes.length + documents.length === 0) throw noSources()
    const written = {
      id,
      clientId,
      instructions,
      notes,
      disputes,
      documents,
      mostCharacters: contextTokens * mostCharactersPerToken,
      model,
      subject,
      letter: letter && recordId(letter),
    }
    const [[row], [existing]] = await access.as(visit, [
      store.startDraft(visit, written),
      store.readDraft(clientId, id),
    ])
    const audited = { action: 'draft_started', noun: 'draft', clientId }
    if (!row || !may(visit.actor, 'create', 'letter', { consultantId: row.consultant_id })) {
      return access.refuse(visit, audited)
    }
    if (!row.started && existing?.drafts) return null
    if (!row.started && row.status === 'archived') return access.decline(visit, audited, archived())
    const { client: name, writer } = row
    const sources = row.sources ?? []
    if (!row.started) {
      const unfit = faultOf(sources) ?? (row.too_long ? tooLong(instructions, sources, contextTokens) : undefined)
      return unfit ? access.decline(visit, audited, unfit) : access.refuse(visit, audited)
    }
    return { id, clientId, sources, input: promptInput(sources, { client: name, writer, currency }) }
  }

  /** The steps of a generation that are texts. Throws what ended it. */
  async function* textsOf(job: Job): AsyncGenerator<DraftStep, void, void> {
    for await (const step of generation.stream(job)) {
      if (step.kind === 'started') yield { kind: 'started', id: step.id, model: step.model }
      else if (step.kind === 'texts') yield step
      else if (step.kind === 'reply' || step.kind === 'broken') {
        onCharged?.(step.reply.model, step.reply.usage)
        if (step.kind === 'broken') throw step.problem
      }
    }
  }

  /** Null if the person may no longer see it. */
  async function shown(visit: Visit, { id, clientId }: DraftOfClient): Promise<ShownDraft | null> {
    const [[row]] = await access.as(visit, [store.readDraft(clientId, id)])
    const draft = row?.drafts?.[0]
    return draft ? presentDraft(draft, currency) : null
  }

  async function ended(visit: Visit, which: DraftOfClient): Promise<DraftStep> {
    const { clientId } = which
    const draft = await shown(visit, which)
    if (draft === null) return access.refuse(visit, { action: 'draft_read', noun: 'draft', clientId })
    const id = draft.letter_id
    return { kind: 'ended', draft, letter: id === null ? null : await letters.read(visit, clientId, id) }
  }

  async function repeat(visit: Visit, which: DraftOfClient): Promise<DraftStep> {
    const { id, clientId } = which
    const step = await ended(visit, which)
    await access.note(visit, { action: 'draft_read', noun: 'draft', clientId, nounId: id })
    return step
  }

  async function* work(job: DraftJob): AsyncGenerator<DraftStep, void, void> {
    const { visit, started, stop } = job
    const watching = watch({ visit, access, log, id: started.id, stop })
    let begun = false
    try {
      for await (const step of textsOf(generationOf(job))) {
        begun = true
        yield step
      }
      await watching.end()
    } catch (error) {
      const lost = await watching.lost()
      if (lost) {
        await endings.fail(byService, started, lost.code)
        return yield* failed(job, lost, begun)
      }
      if (isStoppedEarly(error, stop)) {
        await endings.stopEmpty(visit, started)
        return yield await ended(visit, started)
      }
      await endings.fail(visit, started, failureOf(error))
      return yield* failed(job, inTermsOf(error, job), begun)
    }
    try {
      await endings.keep(visit, started)
      yield await ended(visit, started)
    } catch (error) {
      yield* failed(job, error, begun)
    }
  }

  /** The last step of a draft that failed. Throws the error if the draft has had no step yet. */
  async function* failed(
    { visit, started }: DraftJob,
    error: unknown,
    begun: boolean,
  ): AsyncGenerator<DraftStep, void, void> {
    if (!begun) throw error
    if (!(error instanceof Problem)) log.error({ request_id: started.id, err: error }, 'a draft failed')
    const problem = error instanceof Problem ? error : internal(started.id)
    yield { kind: 'failed', problem, draft: await shown(visit, started).catch(() => null) }
  }

  return Object.freeze({
    async *write(
      visit: Visit,
      client: string,
      asked: DraftRequest,
      paid: DraftPayer,
    ): AsyncGenerator<DraftStep, void, void> {
      const clientId = recordId(client)
      const started = await start(visit, clientId, asked, paid)
      if (started === null) return yield await repeat(visit, { id: asked.id, clientId })
      const stop = new AbortController()
      const { promise, resolve } = Promise.withResolvers<void>()
      running.set(started.id, { stop, ended: promise })
      try {
        yield* work({ visit, asked, started, paid, stop })
      } finally {
        running.delete(started.id)
        resolve()
      }
    },
    /** The step of a request that repeats the one that started this draft. */
    repeat,
    isRunning: (id: string) => running.has(id),
    stop: (id: string) => running.get(id)?.stop.abort(),
    /** Stops the drafts in progress, and waits until each has ended. */
    async endAll() {
      for (const { stop } of running.values()) stop.abort()
      await Promise.all([...running.values()].map(({ ended: end }) => end))
    },
  })
}

/** The last choice of pages of a document counts. */
const distinctDocuments = (chosen: NewDraft['documents'] = []): store.ChosenDocument[] => [
  ...new Map(chosen.map(({ id, pages }) => [recordId(id), { id: recordId(id), ...(pages && { pages }) }])).values(),
]

const distinct = (ids: readonly string[] = []): string[] => [...new Set(ids.map(recordId))]

/** A draft continues when the browser goes away. */
const neverAborts = new AbortController().signal

function generationOf({ visit, asked, started, paid, stop }: DraftJob): Job {
  const { id, clientId, input } = started
  const { accountId, model, maxOutputTokens } = paid
  const personId = personIdOf(visit.actor)
  if (personId === undefined) throw new Error('only a person drafts a letter')
  return {
    requestId: id,
    request: {
      model,
      prompt: {
        messages: [
          { role: 'system', text: asked.instructions },
          { role: 'user', text: input },
        ],
      },
      stream: true,
      maxOutputTokens: undefined,
      leastOutputTokens: Math.min(leastReply, maxOutputTokens),
      names: { maxOutputTokens: 'max_output_tokens', input: 'notes' },
    },
    payer: { accountId, personId, clientId },
    allowedModels: null,
    signal: neverAborts,
    stop: stop.signal,
    // The till stores the reply with the charge, for `keep_draft`.
    idempotency: { key: id, hash: id },
  }
}

/** After an outage of the database it is unknown whether the draft was charged: recovery finds out. */
function failureOf(error: unknown): DraftFailure {
  if (!(error instanceof Problem) || error.code === 'unavailable' || error.code === 'internal') return 'interrupted'
  return error.code
}

/** Whether a draft was stopped before its model was called. */
function isStoppedEarly(error: unknown, { signal }: AbortController): boolean {
  return signal.aborted && error instanceof Problem && error.code === 'malformed_request'
}

function inTermsOf(error: unknown, { asked, started, paid }: DraftJob): unknown {
  const isTooLong = error instanceof Problem && error.code === 'context_length_exceeded'
  return isTooLong ? tooLong(asked.instructions, started.sources, paid.contextTokens) : error
}

/** Why nothing can be written from a document among the sources. */
function faultOf(sources: readonly store.ReadSource[]): Problem | undefined {
  for (const { title, length, missing } of sources) {
    const isShort = missing !== null && missing.length > 0
    if (!isShort && length !== null) continue
    const reason = isShort
      ? `The document ${title} has no ${missing.length === 1 ? 'page' : 'pages'} ${missing.join(', ')}. Choose pages that it has.`
      : `The document ${title} has no text to write from: it was not read, or has none on these pages.`
    return new Problem('conflict', reason, { field: 'documents' })
  }
  return undefined
}

function noSources(): Problem {
  return new Problem('missing_field', 'Choose at least one note, dispute or document to write from.', {
    field: 'notes',
  })
}

function archived(): Problem {
  return new Problem('conflict', 'The client is archived: restore it before you change its record.')
}

const internal = (id: string): Problem => new Problem('internal', internalReason(id))
