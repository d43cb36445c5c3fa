import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { draws } from '../../../../tests/support/draws.ts'
import { valuesOf } from '../../../../tests/support/json.ts'
import { createDeltaReader } from './chat-deltas.ts'
import { Failure } from '../failure.ts'

const run = { limits: { maxOutputTokens: 9, stop: ['END'] }, log: pino({ enabled: false }) }

/** Reads an event with a new reader. */
const alone = (data: string) => createDeltaReader(run)(data)

const read = (all: readonly string[]) => all.map(createDeltaReader(run))

const chunk = (delta: object, more: object = {}, event: object = {}) =>
  JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: null, ...more }], usage: null, ...event })

const noted = (note: string, content: string) =>
  JSON.stringify({ choices: [{ note: { content: note }, delta: { content } }] })

const choice = (index: number | null | undefined, content: string, reason: string | null = null) => ({
  index,
  delta: { content },
  finish_reason: reason,
})

const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('word', ' word', '', '"', '\\', '\\"', '"content":"x"', 'a","x":"b', '\n', '\ud83d', '😀', '\u2028'),
)
const called = (name: string | undefined, json: string) => ({
  tool_calls: [{ index: 0, ...(name && { id: 'call_1', type: 'function' }), function: { name, arguments: json } }],
})
const numbered = (index: unknown, id: unknown) => chunk({ tool_calls: [{ index, id, function: { name: 'clock' } }] })
const event = fc.oneof(
  words.map((json) => chunk(called(undefined, json))),
  words.map((json) => chunk(called('clock', json))),
  words.map((json) => chunk({ content: null, ...called(undefined, json) })),
  words.map((json) => chunk({ content: json, ...called(undefined, json) })),
  words.map((reasoning_content) => chunk({ content: null, reasoning_content })),
  words.map((reasoning) => chunk({ reasoning: reasoning, reasoning_content: reasoning })),
  fc.tuple(words, words).map(([reasoning, reasoning_content]) => chunk({ reasoning, reasoning_content })),
  words.map((content) => chunk({ content })),
  words.map((content) => chunk({ content }, { finish_reason: 'stop', stop_reason: 'END' })),
  words.map((content) => chunk({ content }, {}, { usage: { prompt_tokens: 3, completion_tokens: content.length } })),
  words.map((content) => chunk({ content }, {}, { type: 'content' })),
  words.map((content) => chunk({ content }).replaceAll(':', ' : ')),
  words.map((content) => chunk({ role: 'assistant', content, reasoning: 'Hm.' })),
  words.map((reasoning) => chunk({ reasoning })),
  fc.tuple(words, words).map(([note, content]) => noted(note, content)),
  fc.constantFrom(chunk({}, { finish_reason: 'length' }), '{"choices":[]}', chunk({ content: null })),
)

describe('the events of a stream', () => {
  test('mean the same in any order', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (all) => assert.deepEqual(read(all), all.map(alone))),
      draws({ test: 100, endure: 4000 }),
    )
  })

  test('may be nothing, and number their calls in their own way', () => {
    const events = ['null', '[]', '{"choices":{}}', '{"choices":[null]}', numbered('1', 7), numbered({}, null)].map(
      alone,
    )
    assert.deepEqual(
      events.map(({ text, calls: [call] = [] }) => [text, call?.index, call?.id]),
      [
        ['', undefined, undefined],
        ['', undefined, undefined],
        ['', undefined, undefined],
        ['', undefined, undefined],
        ['', 1, '7'],
        ['', undefined, ''],
      ],
    )
  })

  test('mean the same with unusual texts', () => {
    const texts = ['word', 'a","finish_reason":"stop","x":"b', 'end"', '\\', '\\u0041', 'Grüß', '']
    const all = texts.map((content) => chunk({ content }))
    assert.deepEqual(valuesOf(read(all), 'text'), texts)
  })

  test('mean the same if another field has the same text', () => {
    const all = [noted('word', 'word'), noted('other', 'word'), noted('word', 'other')]
    assert.deepEqual(valuesOf(read(all), 'text'), ['word', 'word', 'other'])
  })

  test('of choices other than the first are ignored', () => {
    const all = [
      [choice(0, 'a')],
      [choice(1, 'X')],
      [choice(1, 'X', 'length')],
      [choice(1, 'X'), choice(0, 'b')],
      [choice(2, 'X'), choice(1, 'X')],
      [choice(undefined, 'c')],
      [choice(null, 'd'), choice(1, 'X')],
      [choice(0, 'e', 'stop')],
    ]
    const deltas = read(all.map((choices) => JSON.stringify({ choices })))
    assert.equal(deltas.map(({ text }) => text).join(''), 'abcde')
    assert.deepEqual(
      deltas.map(({ stopReason }) => stopReason).filter((reason) => reason !== undefined),
      ['complete'],
    )
  })

  test('are refused if one is invalid, even in the middle', () => {
    const good = chunk({ content: 'word' })
    for (const bad of [
      good.replace('word', 'wo\nrd'),
      good.replace('word', 'wo"rd'),
      good.replace('word', 'wo\\xrd'),
      good.replace('"word"', '7'),
      good.slice(0, -1),
      `${good}}`,
      '{"choices":7}',
      '',
    ]) {
      assert.throws(() => read([good, bad]), Failure, bad)
      assert.throws(() => read([bad]), Failure, bad)
    }
  })
})
