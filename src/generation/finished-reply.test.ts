import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReplyCallIds } from '../models/call-ids.ts'
import type { StreamEnd, StreamPart, StopReason } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import { createTruncation } from './truncation.ts'
import { checkFinished, readStream, type FinishedReply } from './finished-reply.ts'

const usage = { inputTokens: 3, outputTokens: 2, source: 'model' } as const
const open = new AbortController().signal
const part = { kind: 'texts', texts: ['Hel'] } as const
const end = (stopReason: StopReason): StreamEnd => ({ kind: 'end', stopReason, usage })

async function* run(...pieces: readonly StreamPart[]): AsyncGenerator<StreamPart> {
  yield* pieces
}

/** The texts of a run and its finished. */
async function collect(
  pieces: AsyncIterable<StreamPart>,
  signal = open,
  maxOutputTokens = 10,
): Promise<FinishedReply & { texts: string[] }> {
  const texts: string[] = []
  const stop = new AbortController()
  if (signal.aborted) stop.abort()
  const reading = readStream(pieces, {
    truncation: createTruncation({ maxOutputTokens }),
    callIds: createReplyCallIds([]),
    stop,
  })
  let step = await reading.next()
  for (; !step.done; step = await reading.next()) if (step.value.kind === 'texts') texts.push(...step.value.texts)
  return { ...step.value, texts }
}

/** More levels than a call can have. */
const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`

const fails = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

const tokensOf = (...all: readonly string[]) =>
  all.map((token) => ({ token, logprob: -1, bytes: null, top: [{ token: '?', logprob: -2, bytes: null }] }))
const scoredPiece = (text: string, ...all: readonly string[]) =>
  ({ kind: 'scored', text, logprobs: tokensOf(...all) }) as const
const readScored = async (stop: readonly string[], ...pieces: readonly StreamPart[]) => {
  const truncation = createTruncation({ maxOutputTokens: 10, stop })
  const needs = { truncation, callIds: createReplyCallIds([]), isScored: true, stop: new AbortController() }
  const reading = readStream(run(...pieces), needs)
  const sent: unknown[] = []
  let step = await reading.next()
  for (; !step.done; step = await reading.next()) sent.push(step.value)
  return { sent, logprobs: step.value.logprobs, text: step.value.text }
}

const said = (text: string, choice?: number) => ({ kind: 'texts', texts: [text], choice }) as const
const endFor = (stopReason: StopReason, otherReasons: readonly StopReason[], outputTokens = 6): StreamEnd => ({
  kind: 'end',
  stopReason,
  otherReasons,
  usage: { inputTokens: 3, outputTokens, source: stopReason === 'complete' ? 'upstream' : 'estimated' },
})
const readAll = async (stopTexts: readonly string[], ...pieces: readonly StreamPart[]) => {
  const needs = () => ({
    truncation: createTruncation({ maxOutputTokens: 4, stop: stopTexts }),
    callIds: createReplyCallIds([]),
  })
  const stop = new AbortController()
  const sent: (readonly [choice: number | undefined, piece: unknown])[] = []
  const reading = readStream(run(...pieces), { ...needs(), others: [needs()], stop })
  let step = await reading.next()
  for (; !step.done; step = await reading.next()) {
    const { choice, ...piece } = step.value
    sent.push([choice, piece.kind === 'texts' ? piece.texts.join('') : piece.kind])
  }
  return { sent, isStopped: stop.signal.aborted, finished: step.value }
}

describe('a run', () => {
  it('is read as texts and as a whole', async () => {
    const texts = [['Hel'], ['l', 'o']].map((each) => ({ kind: 'texts', texts: each }) as const)
    const finished = await collect(run(...texts, end('stop_sequence')))
    assert.deepEqual(finished, { text: 'Hello', stopReason: 'stop_sequence', usage, texts: ['Hel', 'l', 'o'] })
  })

  it('keeps calls and reasoning in their order', async () => {
    const think = [{ kind: 'reasoning', text: 'Hm' } as const, { kind: 'signature', signature: 's' } as const]
    const call = [{ kind: 'call', id: 'c', tool: 'find' } as const]
    const input = [{ kind: 'input', json: '{"a"' } as const, { kind: 'input', json: ':1}' } as const]
    const second = [{ kind: 'call', id: 'd', tool: 'list' } as const]
    const deltas = [call, input, second].map((each) => ({ kind: 'deltas', deltas: each }) as const)
    const finished = await collect(run({ kind: 'deltas', deltas: think }, part, ...deltas, end('complete')))
    assert.deepEqual(finished, {
      text: 'Hel',
      parts: [
        { kind: 'reasoning', text: 'Hm', signature: 's' },
        { kind: 'text', text: 'Hel' },
        { kind: 'call', id: 'c', tool: 'find', input: '{"a":1}' },
        { kind: 'call', id: 'd', tool: 'list', input: '{}' },
      ],
      stopReason: 'complete',
      usage,
      texts: ['Hel'],
    })
  })

  it('has the log probabilities of the tokens that were passed on, each with its text', async () => {
    const pieces = [
      scoredPiece('one', 'o', 'ne'),
      scoredPiece(' E', ' E'),
      scoredPiece('ND.', 'ND', '.'),
      scoredPiece('', '<end>'),
    ]
    assert.deepEqual(await readScored([], ...pieces, end('complete')), {
      sent: pieces,
      text: 'one END.',
      logprobs: tokensOf('o', 'ne', ' E', 'ND', '.', '<end>'),
    })
    assert.deepEqual(await readScored(['END'], ...pieces, end('complete')), {
      sent: [scoredPiece('one', 'o', 'ne'), scoredPiece(' ', ' E')],
      text: 'one ',
      logprobs: tokensOf('o', 'ne', ' E'),
    })
    assert.deepEqual(await readScored(['Else'], ...pieces, end('complete')), {
      sent: [
        scoredPiece('one', 'o', 'ne'),
        scoredPiece(' ', ' E'),
        scoredPiece('END.', 'ND', '.'),
        scoredPiece('', '<end>'),
      ],
      text: 'one END.',
      logprobs: tokensOf('o', 'ne', ' E', 'ND', '.', '<end>'),
    })
    const unscored = [{ kind: 'texts', texts: ['Hi'] } as const, end('complete')]
    assert.deepEqual(await readScored([], ...unscored), {
      sent: [scoredPiece('Hi')],
      text: 'Hi',
      logprobs: undefined,
    })
  })

  describe('of several choices', () => {
    it('has each in its order, with its own end', async () => {
      const { sent, finished } = await readAll(
        [],
        said('a'),
        said('x', 1),
        said('b'),
        endFor('complete', ['content_filter']),
      )
      assert.deepEqual(sent, [
        [undefined, 'a'],
        [1, 'x'],
        [undefined, 'b'],
      ])
      assert.deepEqual(finished, {
        text: 'ab',
        stopReason: 'complete',
        others: [{ text: 'x', stopReason: 'content_filter' }],
        usage: { inputTokens: 3, outputTokens: 6, source: 'upstream' },
      })
    })

    it('ends each before its own stop string, and stops the model once all have ended so', async () => {
      const first = [said('a E'), said('x', 1), said('ND'), said('c')]
      const one = await readAll(['END'], ...first, said('y E', 1), endFor('complete', ['complete'], 9))
      assert.deepEqual([one.finished.text, one.finished.stopReason], ['a ', 'stop_sequence'])
      assert.deepEqual(one.finished.others, [{ text: 'xy E', stopReason: 'complete' }])
      assert.deepEqual(
        [one.isStopped, one.finished.usage.outputTokens, one.finished.usage.source],
        [false, 4, 'estimated'],
      )
      assert.deepEqual(
        (await readAll(['END'], ...first, endFor('complete', ['complete'], 2))).finished.usage.outputTokens,
        2,
      )
      const both = await readAll(['END'], ...first, said('END', 1), endFor('cancelled', ['cancelled']))
      assert.deepEqual(both.finished.others, [{ text: 'x', stopReason: 'stop_sequence' }])
      assert.deepEqual([both.isStopped, both.finished.stopReason], [true, 'stop_sequence'])
    })

    it('bounds the tokens of each', async () => {
      const words = Array.from({ length: 5 }, (_, index) => [said(`${index}`), said(`${index}`, 1)]).flat()
      const { finished, isStopped } = await readAll([], ...words, endFor('cancelled', ['cancelled']))
      assert.deepEqual([finished.text, finished.others?.[0]?.text, isStopped], ['0123', '0123', true])
      assert.deepEqual([finished.stopReason, finished.usage.outputTokens], ['max_output_tokens', 8])
    })

    it('breaks off as a whole, with what was received of any', async () => {
      const { finished } = await readAll([], said('x', 1), endFor('error', ['complete'], 5))
      assert.deepEqual([finished.stopReason, finished.usage.outputTokens], ['error', 5])
      assert.match(String(finished.problem?.message), /was charged/)
      await assert.rejects(readAll([], endFor('error', ['error'])), fails('upstream_failed'))
      const other = await readAll([], said('a'), said('x', 1), endFor('complete', ['error']))
      assert.equal(other.finished.stopReason, 'error')
    })

    it('has calls of its own in each', async () => {
      const call = { kind: 'call', id: 'c', tool: 'find' } as const
      const called = (json: string, choice?: number) =>
        ({ kind: 'deltas', deltas: [call, { kind: 'input', json }], choice }) as const
      const { finished } = await readAll([], called('{}'), called('{"a":1}', 1), endFor('complete', ['complete']))
      assert.deepEqual(finished.parts, [{ ...call, input: '{}' }])
      assert.deepEqual(finished.others?.[0]?.parts, [{ ...call, input: '{"a":1}' }])
      const broken = await readAll([], called('{}'), called('[]', 1), endFor('complete', ['complete']))
      assert.equal(broken.finished.stopReason, 'error')
      const cut = await readAll([], called('{}'), called('{"a"', 1), endFor('complete', ['max_output_tokens']))
      assert.deepEqual([cut.finished.stopReason, cut.finished.others?.[0]?.parts], ['complete', []])
    })
  })

  it('that calls a tool with anything but an object fails, or breaks off if the caller has received the call', async () => {
    for (const json of ['{"a":', '[1]', 'null', '1', deep]) {
      const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const, { kind: 'input', json } as const]
      const finished = await collect(run({ kind: 'deltas', deltas }, end('complete')), open, 100)
      assert.deepEqual(
        [finished.stopReason, finished.problem?.code, finished.usage],
        ['error', 'upstream_failed', usage],
      )
      const parts = [{ kind: 'call', id: 'c', tool: 'find', input: json } as const]
      const whole = { text: '', parts, usage }
      assert.throws(() => checkFinished({ ...whole, stopReason: 'complete' }, open), fails('upstream_failed'))
      const cut = checkFinished({ ...whole, stopReason: 'max_output_tokens' }, open)
      assert.deepEqual(cut.parts, [], 'a call that was cut off')
    }
  })

  it('that is cut off after the name of a tool does not have the call', async () => {
    const calls = ['c', 'd'].map((id) => ({ kind: 'call', id, tool: 'find' }) as const)
    for (const stopReason of ['max_output_tokens', 'content_filter', 'stop_sequence'] as const) {
      const deltas = { kind: 'deltas', deltas: calls } as const
      const steps = await Array.fromAsync(
        readStream(run(part, deltas, end(stopReason)), {
          truncation: createTruncation({ maxOutputTokens: 10 }),
          callIds: createReplyCallIds([]),
          stop: new AbortController(),
        }),
      )
      assert.deepEqual(steps, [part, { kind: 'deltas', deltas: calls.slice(0, 1) }])
      const parts = calls.map((call) => ({ ...call, input: '' }))
      const whole = checkFinished({ text: '', parts, usage, stopReason }, open)
      assert.deepEqual(whole.parts, [{ ...calls[0], input: '{}' }])
    }
  })

  it('that fails after the name of a tool, before anything else, has brought its caller nothing', async () => {
    const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const]
    await assert.rejects(collect(run({ kind: 'deltas', deltas }, end('error'))), fails('upstream_failed'))
  })

  it('with a call without arguments before a text has both in their order', async () => {
    const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const]
    const { parts } = await collect(run({ kind: 'deltas', deltas }, part, end('max_output_tokens')))
    assert.deepEqual(parts, [
      { kind: 'call', id: 'c', tool: 'find', input: '{}' },
      { kind: 'text', text: 'Hel' },
    ])
  })

  it('is cut off at its most tokens within a call, too', async () => {
    const input = Array.from({ length: 20 }, () => ({ kind: 'input', json: ' ' }) as const)
    const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const, ...input]
    const finished = await collect(run({ kind: 'deltas', deltas }, end('complete')))
    assert.deepEqual([finished.stopReason, finished.usage.outputTokens, finished.parts], ['max_output_tokens', 10, []])
  })

  it('stops the model at its bounds, and not before', async () => {
    const stop = new AbortController()
    const states: boolean[] = []
    async function* model(): AsyncGenerator<StreamPart> {
      for (const text of ['Hel', 'lo EN', 'D and', ' on']) {
        states.push(stop.signal.aborted)
        yield { kind: 'texts', texts: [text] }
      }
      states.push(stop.signal.aborted)
      yield end('cancelled')
    }
    const truncation = createTruncation({ maxOutputTokens: 10, stop: ['END'] })
    await Array.fromAsync(readStream(model(), { truncation, callIds: createReplyCallIds([]), stop }))
    assert.deepEqual(states, [false, false, false, true, true])
  })

  it('without an end, or with an error at its end, fails', async () => {
    await assert.rejects(collect(run(part)), fails('upstream_failed'))
    await assert.rejects(collect(run(end('error'))), fails('upstream_failed'))
    assert.throws(() => checkFinished({ text: 'Hel', stopReason: 'error', usage }, open), fails('upstream_failed'))
  })

  it('that breaks off after its first text is finished, with a problem for the caller', async () => {
    const late = new Problem('upstream_timeout', 'Nothing was charged.', { retryAfter: 7 })
    for (const [problem, code] of [
      [undefined, 'upstream_failed'],
      [late, 'upstream_timeout'],
    ] as const) {
      const finished = await collect(run(part, { ...end('error'), ...(problem && { problem }) }))
      assert.deepEqual([finished.text, finished.stopReason, finished.usage], ['Hel', 'error', usage])
      assert.equal(finished.problem?.code, code)
      assert.match(finished.problem?.message ?? '', /The text received so far was charged/)
      assert.equal(finished.problem?.details.retryAfter, undefined)
    }
  })

  it('that was cancelled is finished only if someone stopped it', async () => {
    const gone = AbortSignal.abort()
    assert.equal((await collect(run(end('cancelled')), gone)).stopReason, 'cancelled')
    await assert.rejects(collect(run(end('cancelled'))), fails('unavailable'))
    const whole = { text: '', stopReason: 'cancelled', usage } as const
    assert.equal(checkFinished(whole, gone), whole)
    assert.throws(() => checkFinished(whole, open), fails('unavailable'))
  })

  it('is closed after its end', async () => {
    let ended = false
    async function* watched(): AsyncGenerator<StreamPart> {
      try {
        yield end('complete')
        yield { kind: 'texts', texts: ['more'] }
      } finally {
        ended = true
      }
    }
    await collect(watched())
    assert.ok(ended)
  })
})
