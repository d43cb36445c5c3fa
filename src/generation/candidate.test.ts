import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTestLog } from '../../tests/support/log.ts'
import { TillRefusal, type HoldRequest, type Levels, type Till } from '../billing/till/till.ts'
import type { Capability } from '../models/capabilities.ts'
import type { Catalogue, Offer } from '../models/catalogue.ts'
import { Problem } from '../platform/problems.ts'
import { createCandidates, type AdmittedJob } from './candidate.ts'
import type { RunningJob } from './running-jobs.ts'
import { replayedReply } from './reply.ts'
import type { TextRequest } from './request.ts'

const request: TextRequest = {
  model: 'a',
  stream: true,
  prompt: { messages: [{ role: 'user', text: 'Hello' }] },
  maxOutputTokens: 20,
  names: { maxOutputTokens: 'max_output_tokens', input: 'input' },
}
const down = new Problem('unavailable', 'It is away.')
const price = { input: 1n, output: 2n }

interface Sketch {
  readonly fallback?: string
  readonly most?: number
  readonly context?: number
  readonly can?: readonly Capability[]
  readonly takes?: readonly string[]
  readonly fails?: Error
  readonly onCount?: () => void
}

/** Models that count 10 tokens, or fail at it. */
function catalogueOf(models: Readonly<Record<string, Sketch>>): Catalogue {
  const offerOf = (
    id: string,
    { fallback, most = 50, context = 100, can = [], takes = [], fails, onCount }: Sketch,
  ): Offer => ({
    model: {
      id,
      contextTokens: context,
      capabilities: new Set(can),
      takes: new Set(takes),
      cheapPrompt: 1000,
      maxOutputTokens: most,
      count: async () => {
        onCount?.()
        if (fails) throw fails
        return { tokens: 10, exact: true }
      },
      run: () => assert.fail('nobody runs it'),
      stream: () => assert.fail('nobody runs it'),
      health: () => ({ ready: true }),
      close: async () => {},
    },
    price,
    aliases: [],
    createdAt: 0,
    fallback,
  })
  const offers = new Map(Object.entries(models).map(([id, sketch]) => [id, offerOf(id, sketch)]))
  return {
    find: (name) => {
      const found = offers.get(name)
      if (found) return found
      throw new Problem('unknown_model', 'There is none.')
    },
    list: () => [...offers.values()],
    configured: () => [],
    close: async () => {},
  }
}

const levels: Levels = {
  requests: { limit: 1, remaining: 1, resetSeconds: 0 },
  tokens: { limit: 1, remaining: 1, resetSeconds: 0 },
}

/** A till that admits everything. */
const till: Till = {
  admit: async ({ maxOutputTokens }) => ({ kind: 'admitted', levels, maxOutputTokens }),
  reprice: async ({ maxOutputTokens }) => ({ kind: 'admitted', levels, maxOutputTokens }),
  precheck: async () => undefined,
  storedReply: async () => undefined,
  settle: () => assert.fail('nothing is settled'),
  release: () => assert.fail('nothing is released'),
  takeRequest: () => assert.fail('no request is taken'),
  takeSpare: () => assert.fail('no request is taken'),
  returnSpare: () => assert.fail('no request is taken'),
  levels: () => assert.fail('no levels are read'),
  unchargedTokens: () => 0,
  drain: async () => {},
}

const candidatesOf = (catalogue: Catalogue) => createCandidates({ catalogue, till, log: createTestLog().log })

const jobOf = (
  text: TextRequest,
  allowedModels: RunningJob['allowedModels'] = null,
  signal = new AbortController().signal,
): RunningJob => ({
  requestId: 'r',
  request: text,
  payer: { accountId: 'account', keyId: 'key' },
  allowedModels,
  signal,
  considered: [],
  isHeld: false,
  startedAt: 0,
  disconnected: signal,
})

async function admit(catalogue: Catalogue, job: RunningJob): Promise<AdmittedJob> {
  const admission = await candidatesOf(catalogue).admit(job)
  assert.ok(admission.kind === 'admitted')
  return admission
}

/** The ids of the candidates, one after the other, while each fails with `error`. */
async function sequence(
  models: Readonly<Record<string, Sketch>>,
  error: unknown = down,
  allowedModels: RunningJob['allowedModels'] = null,
  asked = request,
) {
  const [catalogue, job] = [catalogueOf(models), jobOf(asked, allowedModels)]
  const ids: string[] = []
  for (let admitted = await admit(catalogue, job); ;) {
    ids.push(admitted.candidate.offer.model.id)
    const next = await candidatesOf(catalogue).fallBack(job, admitted.candidate, error)
    if (!next) return ids
    admitted = next
  }
}

/** Admits a job at a till that refuses at its precheck. Returns how often tokens were counted and what was checked. */
async function refuse(text: TextRequest, precheck: Till['precheck']) {
  let counts = 0
  const checked: HoldRequest[] = []
  const counting = catalogueOf({ a: { onCount: () => counts++, fallback: 'b' }, b: { onCount: () => counts++ } })
  const checking: Till = {
    ...till,
    precheck: (least) => {
      checked.push(least)
      return precheck(least)
    },
  }
  const candidates = createCandidates({ catalogue: counting, till: checking, log: createTestLog().log })
  const result = await candidates.admit(jobOf(text)).catch((error: unknown) => error)
  return { result, counts, checked }
}

describe('the candidates of a request', () => {
  it('are the model it names and then its fallbacks, each once', async () => {
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { fallback: 'c' }, c: {} }), ['a', 'b', 'c'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { fallback: 'a' } }), ['a', 'b'])
    assert.deepEqual(await sequence({ a: { fallback: 'a' } }), ['a'])
  })

  it('fall back only after an error that another model may not have', async () => {
    const models = { a: { fallback: 'b' }, b: {} }
    for (const code of ['upstream_failed', 'upstream_timeout', 'unavailable', 'overloaded'] as const) {
      assert.deepEqual(await sequence(models, new Problem(code, 'x')), ['a', 'b'], code)
    }
    for (const error of [new Problem('context_length_exceeded', 'x'), new TypeError('a fault')]) {
      assert.deepEqual(await sequence(models, error), ['a'])
    }
  })

  it('exclude models that the payer may not use or that cannot take the request', async () => {
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: {} }, down, ['a']), ['a'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { most: 19 } }), ['a'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { context: 29 } }), ['a'])
    assert.deepEqual(await sequence({ a: { fallback: 'none' } }), ['a'])
    const asked = { ...request, prompt: { ...request.prompt, vendorFields: { top_k: 40 } } }
    const [a, takes] = [{ fallback: 'b', takes: ['top_k'] }, ['top_k', 'min_p']]
    assert.deepEqual(await sequence({ a, b: {} }, down, null, asked), ['a'])
    assert.deepEqual(await sequence({ a, b: { takes } }, down, null, asked), ['a', 'b'])
    const both = { fallback: 'b', takes: ['logprobs', 'top_logprobs', 'n'] }
    const scored = { ...request, logprobs: { top: 2, field: 'logprobs' } }
    assert.deepEqual(await sequence({ a: both, b: { takes: ['logprobs'] } }, down, null, scored), ['a'])
    assert.deepEqual(await sequence({ a: both, b: both }, down, null, scored), ['a', 'b'])
    assert.deepEqual(await sequence({ a: both, b: {} }, down, null, { ...request, choices: 2 }), ['a'])
    assert.deepEqual(await sequence({ a: both, b: both }, down, null, { ...request, choices: 2 }), ['a', 'b'])
  })

  it('have a maximum that bounds the log probabilities of a reply', async () => {
    const takes = ['logprobs', 'top_logprobs', 'n']
    const catalogue = catalogueOf({ a: { takes, most: 500_000, context: 500_000 } })
    const candidates = createCandidates({ catalogue, till, log: createTestLog().log })
    const asked = { ...request, choices: 2, logprobs: { top: 4, field: 'logprobs' } }
    const ask = (maxOutputTokens: number | undefined) => candidates.admit(jobOf({ ...asked, maxOutputTokens }))
    for (const most of [undefined, 100_000]) {
      const admission = await ask(most)
      assert.ok(admission.kind === 'admitted')
      assert.equal(admission.candidate.maxOutputTokens, 100_000)
    }
    const refused = {
      code: 'invalid_field',
      message: 'The field max_output_tokens must be at most 100000 with so many log probabilities.',
    }
    await assert.rejects(ask(100_001), refused)
    const needing = { ...asked, maxOutputTokens: undefined, leastOutputTokens: 100_001 }
    await assert.rejects(candidates.admit(jobOf(needing)), refused)
  })

  describe('of a request for several choices', () => {
    const takes = ['n']
    const catalogue = catalogueOf({ a: { takes, fallback: 'b' }, b: { takes, most: 30 } })
    const choices = 3

    async function held(asked: TextRequest, granted?: number) {
      const asks: HoldRequest[] = []
      const grant = async (ask: HoldRequest) => {
        asks.push(ask)
        return { kind: 'admitted' as const, levels, maxOutputTokens: granted ?? ask.maxOutputTokens }
      }
      const till3 = { ...till, admit: grant, reprice: grant }
      const candidates = createCandidates({ catalogue, till: till3, log: createTestLog().log })
      const job = jobOf(asked)
      const admission = await candidates.admit(job)
      assert.ok(admission.kind === 'admitted')
      const next = await candidates.fallBack(job, admission.candidate, down)
      return {
        asks: asks.map(({ maxOutputTokens, leastOutputTokens }) => [maxOutputTokens, leastOutputTokens]),
        most: [admission.candidate.maxOutputTokens, next?.candidate.maxOutputTokens],
      }
    }

    it('hold the maximum of each, also at a fallback', async () => {
      assert.deepEqual(await held({ ...request, choices }), {
        asks: [
          [60, undefined],
          [60, undefined],
        ],
        most: [20, 20],
      })
    })

    it('divide what there is room for if the request names no maximum', async () => {
      const open = { ...request, maxOutputTokens: undefined, choices }
      assert.deepEqual(await held(open), {
        asks: [
          [150, 3],
          [90, 3],
        ],
        most: [50, 30],
      })
      assert.deepEqual((await held(open, 100)).most, [33, 33])
      assert.deepEqual((await held(open, 3)).most, [1, 1])
    })

    it('name n among what the caller can lower', async () => {
      const refusal = new TillRefusal('insufficient_credit', 'Lower max_output_tokens.', {}, levels)
      const refusing: Till = { ...till, admit: () => Promise.reject(refusal) }
      const candidates = createCandidates({ catalogue, till: refusing, log: createTestLog().log })
      const names = { maxOutputTokens: 'max_tokens', input: 'messages', reducible: 'max_tokens or n' }
      await assert.rejects(candidates.admit(jobOf({ ...request, choices, names })), {
        message: 'Lower max_tokens or n.',
        details: { field: 'max_tokens' },
      })
    })
  })

  describe('of a request that needs tools and reasoning', () => {
    const needs = [
      { capability: 'tools', field: 'tools' },
      { capability: 'reasoning', field: 'reasoning_effort' },
    ] as const
    const both = ['reasoning', 'json', 'tools'] as const

    it('exclude fallbacks that lack one of them', async () => {
      const models = {
        a: { can: both, fallback: 'b' },
        b: { can: ['tools'], fallback: 'c' },
        c: { can: both },
      } as const
      assert.deepEqual(await sequence(models, down, null, { ...request, needs }), ['a'])
      assert.deepEqual(
        await sequence({ ...models, b: { ...models.b, can: both } }, down, null, { ...request, needs }),
        ['a', 'b', 'c'],
      )
      assert.deepEqual(await sequence(models), ['a', 'b', 'c'])
    })

    it('are refused before anything is counted or checked at the till', async () => {
      let counts = 0
      const offered = catalogueOf({ a: { can: ['tools'], onCount: () => counts++, fallback: 'b' }, b: { can: both } })
      const refusing: Till = { ...till, admit: () => assert.fail('held'), precheck: () => assert.fail('checked') }
      const candidates = createCandidates({ catalogue: offered, till: refusing, log: createTestLog().log })
      const long = { messages: [{ role: 'user', text: 'x'.repeat(1001) }] } as const
      for (const prompt of [request.prompt, long]) {
        await assert.rejects(candidates.admit(jobOf({ ...request, prompt, needs })), {
          code: 'invalid_field',
          message: 'The model a does not support reasoning, which the field reasoning_effort needs.',
          details: { field: 'reasoning_effort' },
        })
      }
      assert.equal(counts, 0)
    })
  })

  it('begin with the first that can count the tokens', async () => {
    assert.deepEqual(await sequence({ a: { fallback: 'b', fails: down }, b: {} }), ['b'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { fallback: 'c', fails: down }, c: {} }), ['a', 'c'])
    await assert.rejects(sequence({ a: { fails: down } }), down)
  })

  describe('with a prompt that is costly to count', () => {
    const long: TextRequest = { ...request, prompt: { messages: [{ role: 'user', text: 'x'.repeat(1001) }] } }
    const refusal = new TillRefusal('insufficient_credit', 'Lower max_output_tokens.', {}, levels)

    it('are not counted for an account that could not pay, and the refusal names the field of the dialect', async () => {
      const names = { maxOutputTokens: 'max_tokens', input: 'messages' }
      const { result, counts, checked } = await refuse({ ...long, names }, () => Promise.reject(refusal))
      assert.ok(result instanceof TillRefusal)
      assert.deepEqual([result.code, result.message, counts], ['insufficient_credit', 'Lower max_tokens.', 0])
      assert.deepEqual(
        checked.map(({ inputTokens, maxOutputTokens }) => [inputTokens, maxOutputTokens]),
        [[1, 20]],
      )
      const open = await refuse({ ...long, maxOutputTokens: undefined }, () => Promise.reject(refusal))
      assert.deepEqual(
        open.checked.map(({ inputTokens, maxOutputTokens }) => [inputTokens, maxOutputTokens]),
        [[1, 1]],
      )
    })

    it('are not counted for a replay', async () => {
      const body = JSON.stringify({
        output_text: 'Hi',
        stop_reason: 'complete',
        usage: { input_tokens: 5000, output_tokens: 2 },
      })
      const charged = { inputTokens: 4, outputTokens: 2, cachedTokens: 1, cacheWriteTokens: 2 }
      const stored = { kind: 'replay', originalRequestId: 'first', headers: {}, body, charged, levels } as const
      const { result, counts } = await refuse(long, async () => stored)
      assert.ok(typeof result === 'object' && result !== null && 'reply' in result)
      const reply = replayedReply(stored, 'a')
      assert.deepEqual([result.reply, reply.usage, counts], [reply, charged, 0])
      assert.match(reply.body, /"input_tokens":7/)
    })

    it('are counted once the precheck has passed, and short prompts are counted without one', async () => {
      const passed = await refuse(long, async () => undefined)
      assert.deepEqual([passed.counts, passed.checked.length], [1, 1])
      const short = await refuse(request, () => Promise.reject(refusal))
      assert.deepEqual([short.counts, short.checked.length], [1, 0])
    })
  })

  it('end when the caller disconnects', async () => {
    const catalogue = catalogueOf({ a: { fallback: 'b' }, b: {} })
    const job = jobOf(request, null, AbortSignal.abort())
    const { candidate } = await admit(catalogue, job)
    assert.equal(await candidatesOf(catalogue).fallBack(job, candidate, down), undefined)
  })

  it('allow as many tokens as fit if the request names no maximum', async () => {
    const open = { ...request, maxOutputTokens: undefined }
    const most = async (sketch: Sketch) =>
      (await admit(catalogueOf({ a: sketch }), jobOf(open))).candidate.maxOutputTokens
    assert.equal(await most({}), 50)
    assert.equal(await most({ context: 40 }), 30)
    await assert.rejects(most({ context: 10 }), { code: 'context_length_exceeded' })
  })
})
