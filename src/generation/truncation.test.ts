import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../tests/support/draws.ts'
import type { StopReason, UsageSource, WholeReply } from '../models/model.ts'
import { createTruncation, truncate } from './truncation.ts'

/** What is sent of a stream of these deltas, and why it was truncated. */
function stream(texts: readonly string[], maxOutputTokens: number, stop: readonly string[] = [], size = 1) {
  const truncation = createTruncation({ maxOutputTokens, stop })
  const sent: string[] = []
  for (let at = 0; at < texts.length; at += size) sent.push(...truncation.take(texts.slice(at, at + size)))
  sent.push(...truncation.rest())
  assert.ok(!sent.includes(''), 'no delta is empty')
  return [sent.join(''), truncation.reason, truncation.tokens] as const
}

describe('a stream', () => {
  it('within its bounds is sent unchanged, without a copy', () => {
    const truncation = createTruncation({ maxOutputTokens: 2 })
    const texts = ['Hel', 'lo']
    assert.equal(truncation.take(texts), texts)
    assert.deepEqual([truncation.reason, truncation.rest()], [undefined, []])
  })

  for (const size of [1, 2, 7]) {
    it(`A33 ends after as many deltas as it may have tokens (${size} at a time)`, () => {
      const words = Array.from({ length: 7 }, (_, index) => `${index} `)
      assert.deepEqual(stream(words, 3, [], size), ['0 1 2 ', 'max_output_tokens', 3])
      assert.deepEqual(stream(words, 7, [], size), [words.join(''), undefined, 7])
    })
  }

  it('A33 also ends if it arrives in one delta', () => {
    const [text, reason] = stream(['x'.repeat(1000)], 2)
    assert.deepEqual([text.length, reason], [32, 'max_output_tokens'])
  })

  for (const texts of [['a END b'], ['a E', 'ND b'], ['a ', 'E', 'N', 'D', ' b'], ['a EN', 'D b', 'c']]) {
    it(`A33 ends before a stop string, however it is split: ${texts.join('|')}`, () => {
      assert.deepEqual(stream(texts, 100, ['END']).slice(0, 2), ['a ', 'stop_sequence'])
      assert.deepEqual(stream(texts, 100, ['nothing', 'END']).slice(0, 2), ['a ', 'stop_sequence'])
    })
  }

  it('counts the deltas up to the end of the stop string, whether they arrive together or one by one', () => {
    for (const size of [1, 3, 9]) {
      const [text, , tokens] = stream(['a ', 'b ', 'E', 'ND', ' c', ' d', ' e', ' f', ' g'], 100, ['END'], size)
      assert.deepEqual([text, tokens], ['a b ', 4], `${size} at a time`)
    }
  })

  it('counts the tokens up to the end of the stop string in deltas that are longer than a token', () => {
    const before = 'word '.repeat(100)
    for (const texts of [[`${before}END and more`], [before, 'EN', `D${'x'.repeat(500)}`], [before, 'END', 'x']]) {
      assert.deepEqual(stream(texts, 1000, ['END']), [before, 'stop_sequence', 126])
      assert.equal(stream(texts, 100, ['END'])[2], 100, 'never more than the limit')
    }
  })

  it('never loses text that only looks like the beginning of a stop string', () => {
    for (const texts of [
      ['a EN', 'CORE'],
      ['a E', 'E', 'N'],
      ['aab', 'aaab'],
      ['E', 'N'],
    ]) {
      assert.deepEqual(stream(texts, 100, ['END', 'aaac']).slice(0, 2), [texts.join(''), undefined])
    }
  })

  it('ends before the first of several stop strings, and before the shorter of two at the same place', () => {
    assert.deepEqual(stream(['one two three'], 100, ['three', 'two']).slice(0, 2), ['one ', 'stop_sequence'])
    assert.deepEqual(stream(['aab'], 100, ['aab', 'aa']).slice(0, 2), ['', 'stop_sequence'])
    assert.deepEqual(stream(['a', 'ab', 'b'], 100, ['abb']).slice(0, 2), ['a', 'stop_sequence'])
  })

  it('sends what it has held back when it reaches its token limit', () => {
    assert.deepEqual(stream(['a', ' E', 'N', 'D'], 3, ['END']), ['a EN', 'max_output_tokens', 3])
  })
})

const reply = (
  text: string,
  outputTokens: number,
  source: UsageSource = 'upstream',
  stopReason: StopReason = 'complete',
) => ({
  text,
  stopReason,
  usage: { inputTokens: 5, outputTokens, source },
})

describe('a whole reply', () => {
  it('within its bounds is returned unchanged', () => {
    for (const source of ['model', 'upstream', 'estimated'] as const) {
      const whole = reply('Hello', 2, source)
      assert.equal(truncate(whole, { maxOutputTokens: 2, stop: ['x'] }), whole)
    }
    const dense = reply('-'.repeat(200), 3)
    assert.equal(truncate(dense, { maxOutputTokens: 3 }), dense, 'the upstream counted')
  })

  it('A33 is truncated in proportion to the tokens that the upstream reports', () => {
    const { text, stopReason, usage } = truncate(reply('word '.repeat(100), 100), { maxOutputTokens: 10 })
    assert.deepEqual([text, stopReason], ['word '.repeat(10), 'max_output_tokens'])
    assert.deepEqual(usage, { inputTokens: 5, outputTokens: 10, source: 'estimated' })
  })

  it('is not truncated if its text contradicts the reported usage', () => {
    const whole = reply('Hello there.', 5000)
    assert.equal(truncate(whole, { maxOutputTokens: 100 }), whole)
  })

  it('A33 is truncated at the longest plausible length if the upstream reports nothing', () => {
    const { text, usage } = truncate(reply('x'.repeat(1000), 10, 'estimated'), { maxOutputTokens: 10 })
    assert.deepEqual([text.length, usage.outputTokens], [160, 10])
  })

  it('A33 ends before its first stop string, and the text up to the end of it is charged', () => {
    const { text, stopReason, usage } = truncate(reply('one END two END', 15), { maxOutputTokens: 100, stop: ['END'] })
    assert.deepEqual([text, stopReason, usage.outputTokens], ['one ', 'stop_sequence', 7])
  })

  it('A33 ends with the reason that comes first: a stop string at the limit is within it, and one after it is not', () => {
    const tokens = 'word '.repeat(10)
    const kept = [
      { before: '', reason: 'stop_sequence' },
      { before: 'w', reason: 'max_output_tokens' },
    ]
    for (const { before, reason } of kept) {
      const text = `${tokens}${before}END`.padEnd(500, 'x')
      const { text: sent, stopReason, usage } = truncate(reply(text, 100), { maxOutputTokens: 10, stop: ['END'] })
      assert.deepEqual([sent, stopReason, usage.outputTokens], [tokens, reason, 10])
    }
  })

  it('A33 is not cut through a character', () => {
    assert.equal(truncate(reply('\u{1F600}'.repeat(3), 4), { maxOutputTokens: 2 }).text.isWellFormed(), true)
  })
})

describe('a whole reply with reasoning and calls', () => {
  const reasoning = { kind: 'reasoning', text: 'Hm. '.repeat(10), signature: 'c2ln' } as const
  const text = { kind: 'text', text: 'word '.repeat(8) } as const
  const call = { kind: 'call', id: 'c', tool: 'clock', input: `{"zone":"${'x'.repeat(29)}"}` } as const
  const later = { ...call, id: 'd' } as const
  /** 40 characters of reasoning, 40 of text, and 40 of each call. */
  const whole = (outputTokens: number, source: UsageSource = 'upstream', reasoningTokens?: number) => ({
    ...reply(text.text, outputTokens, source),
    parts: [reasoning, text, call, later],
    usage: { inputTokens: 5, outputTokens, ...(reasoningTokens !== undefined && { reasoningTokens }), source },
  })

  it('within its bounds is returned unchanged', () => {
    const all = whole(40)
    assert.equal(truncate(all, { maxOutputTokens: 40, stop: ['x'] }), all, 'a stop string within a call')
    assert.equal(truncate(all, { maxOutputTokens: 40 }), all)
    const hidden = whole(5000)
    assert.equal(truncate(hidden, { maxOutputTokens: 100 }), hidden, 'reasoning that is not shown')
  })

  it('A33 ends before the call that is beyond the limit, even partly', () => {
    for (const [maxOutputTokens, parts] of [
      [39, [reasoning, text, call]],
      [30, [reasoning, text, call]],
      [29, [reasoning, text]],
      [20, [reasoning, text]],
      [15, [reasoning, { kind: 'text', text: 'word '.repeat(4) }]],
      [10, [reasoning]],
      [5, [{ kind: 'reasoning', text: 'Hm. '.repeat(5) }]],
    ] as const) {
      const cut = truncate(whole(40), { maxOutputTokens })
      assert.deepEqual(cut.parts, parts, `${maxOutputTokens}`)
      assert.equal(cut.text, parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''))
      assert.deepEqual([cut.stopReason, cut.usage.outputTokens], ['max_output_tokens', maxOutputTokens])
    }
  })

  it('A33 ends before the call that is beyond the longest plausible length, if the upstream reports nothing', () => {
    const { parts, usage } = truncate(whole(6, 'estimated'), { maxOutputTokens: 6 })
    assert.deepEqual([parts, usage.outputTokens], [[reasoning, text], 6])
  })

  it('A33 ends before a stop string in its text, and keeps the reasoning before it', () => {
    const { parts, stopReason, usage } = truncate(whole(40, 'upstream', 30), {
      maxOutputTokens: 100,
      stop: ['rd word'],
    })
    assert.deepEqual([parts, stopReason], [[reasoning, { kind: 'text', text: 'wo' }], 'stop_sequence'])
    // 49 of 160 characters.
    assert.deepEqual([usage.outputTokens, usage.reasoningTokens], [13, 13])
  })

  it('A33 ends with the reason that comes first, counting from the beginning of the reply', () => {
    for (const [before, reason] of [
      [4, 'stop_sequence'],
      [7, 'max_output_tokens'],
    ] as const) {
      const written = { kind: 'text', text: `${'word '.repeat(before)}STOP `.padEnd(40, 'x') } as const
      const cut = truncate(
        { ...whole(40), parts: [reasoning, written, call, later] },
        { maxOutputTokens: 15, stop: ['STOP'] },
      )
      assert.deepEqual(cut.parts, [reasoning, { kind: 'text', text: 'word '.repeat(4) }])
      assert.deepEqual([cut.stopReason, cut.usage.outputTokens], [reason, 15])
    }
  })
})

const several = (texts: readonly [string, ...string[]], outputTokens: number, source?: UsageSource): WholeReply => {
  const [first, ...others] = texts
  return { ...reply(first, outputTokens, source), others: others.map((text) => ({ text, stopReason: 'complete' })) }
}
const seen = ({ text, stopReason, others = [], usage }: WholeReply) => [
  [text, stopReason],
  ...others.map((each) => [each.text, each.stopReason]),
  usage.outputTokens,
]

describe('a whole reply of several choices', () => {
  it('ends each before its own stop string, and charges the shares that were kept', () => {
    const whole = several(['one two', 'one END two', 'END four five'], 31)
    assert.deepEqual(seen(truncate(whole, { maxOutputTokens: 20, stop: ['END'] })), [
      ['one two', 'complete'],
      ['one ', 'stop_sequence'],
      ['', 'stop_sequence'],
      7 + 7 + 3,
    ])
    assert.equal(truncate(whole, { maxOutputTokens: 20, stop: ['none'] }), whole)
  })

  it('A33 is cut to the maximum of each if the upstream reports more than all of them may have', () => {
    const [long, short] = ['word '.repeat(100), 'word '.repeat(10)]
    const cut = truncate(several([long, short], 110), { maxOutputTokens: 20 })
    assert.deepEqual(seen(cut), [['word '.repeat(20), 'max_output_tokens'], [short, 'complete'], 30])
    assert.deepEqual(cut.usage.source, 'estimated')
  })

  it('keeps the parts and the log probabilities of each within its bounds', () => {
    const logprobs = ['one', ' END'].map((token) => ({ token, logprob: -1, bytes: null, top: [] }))
    const call = { kind: 'call', id: 'c', tool: 'f', input: '{}' } as const
    const parts = [{ kind: 'text', text: 'one END' } as const, call]
    const other = { text: 'one END', parts, logprobs, stopReason: 'complete' } as const
    const { others } = truncate({ ...reply('one', 9), others: [other] }, { maxOutputTokens: 20, stop: [' END'] })
    const kept = { text: 'one', parts: [{ kind: 'text', text: 'one' }], logprobs: logprobs.slice(0, 1) }
    assert.deepEqual(others, [{ ...kept, stopReason: 'stop_sequence' }])
  })

  it('is never cut if each keeps its bounds, however long its tokens are, and never charged beyond what is held', () => {
    const token = fc.constantFrom('-', 'word ', 'x'.repeat(40), '漢')
    const choice = fc.array(token, { maxLength: 12 })
    fc.assert(
      fc.property(fc.array(choice, { minLength: 2, maxLength: 8 }), fc.integer({ min: 1, max: 12 }), (all, most) => {
        const [first = '', ...others] = all.map((tokens) => tokens.join(''))
        const tokens = all.reduce((sum, each) => sum + each.length, 0)
        const whole = several([first, ...others], tokens)
        const cut = truncate(whole, { maxOutputTokens: most })
        if (all.every(({ length }) => length <= most)) assert.equal(cut, whole)
        else if (cut !== whole) assert.ok(cut.usage.outputTokens <= Math.min(tokens, most * all.length))
      }),
      draws({ test: 300, endure: 10_000 }),
    )
  })
})
