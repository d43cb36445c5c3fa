import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CallFragment } from './chat-deltas.ts'
import { createReplyOrder, type OrderedPiece } from './reply-order.ts'

type Arrival = string | Partial<CallFragment>

/** What is passed on of what arrives; ids that the server did not send are `new`. */
function ordered(...arrivals: readonly Arrival[]): string[] {
  const passed: string[] = []
  const sent = new Set(arrivals.flatMap((each) => (typeof each === 'string' ? [] : [each.id])))
  const order = createReplyOrder((piece: OrderedPiece) => {
    if (typeof piece === 'string') passed.push(piece)
    else if (piece.kind === 'call') passed.push(`${piece.tool}#${sent.has(piece.id) ? piece.id : 'new'}`)
    else if (piece.kind === 'input') passed.push(piece.json)
  })
  for (const each of arrivals) {
    if (typeof each === 'string') order.add(each)
    else order.addFragment({ index: undefined, id: '', tool: '', json: '', ...each })
  }
  order.end()
  return passed
}

describe('the pieces of a stream with calls', () => {
  test('are passed on as they arrive', () => {
    const first = { index: 0, id: 'a', tool: 'find' }
    const pieces = [
      { index: 0, json: '{"x"' },
      { index: 0, json: ':1}' },
    ]
    assert.deepEqual(ordered('Hm ', first, ...pieces), ['Hm ', 'find#a', '{"x"', ':1}'])
  })

  test('of interleaved calls follow their call', () => {
    const [a, b] = [{ index: 0 }, { index: 1 }]
    const pieces = [
      { ...a, id: 'a', tool: 'find', json: '{' },
      { ...b, id: 'b', tool: 'list', json: '{"y"' },
      { ...a, json: '}' },
      { ...b, json: ':2}' },
    ]
    assert.deepEqual(ordered(...pieces, 'Done'), ['find#a', '{', '}', 'list#b', '{"y"', ':2}', 'Done'])
  })

  test('of whole calls without an index, or all with index 0, are calls of their own', () => {
    const calls = [
      { id: 'a', tool: 'find', json: '{}' },
      { id: 'b', tool: 'find', json: '{"x":1}' },
    ]
    const expected = ['find#a', '{}', 'find#b', '{"x":1}']
    assert.deepEqual(ordered(...calls), expected)
    assert.deepEqual(ordered(...calls.map((call) => ({ ...call, index: 0 }))), expected)
    assert.deepEqual(ordered(...calls.map((call) => ({ ...call, id: '' }))), ['find#new', '{}', 'find#new', '{"x":1}'])
  })

  test('belong to the call while its arguments are not whole, whatever their strings contain', () => {
    const start = { index: 0, id: 'a', tool: 'find' }
    const pieces = ['{"x":"}', '\\"}{', '","y":[', '{}', ']', '}'].map((json) => ({ index: 0, json }))
    const texts = ['1', '2', '3', '4', '5', '6']
    const arrivals = pieces.flatMap((piece, at) => [piece, texts[at] ?? ''])
    assert.deepEqual(ordered(start, ...arrivals), ['find#a', ...pieces.map(({ json }) => json), ...texts])
  })

  test('repeat the id and the tool of their call without beginning another', () => {
    const pieces = ['{"x"', ':1}', ''].map((json) => ({ index: 0, id: 'a', tool: 'find', json }))
    assert.deepEqual(ordered(...pieces), ['find#a', '{"x"', ':1}'])
  })

  for (const [name, index, pieces, expected] of [
    ['the id follows the tool', 0, [{ tool: 'find' }, { id: 'a', json: '{' }, { json: '}' }], ['find#a', '{', '}']],
    ['the id follows the arguments', 0, [{ tool: 'find', json: '{}' }, { id: 'a' }], ['find#new', '{}']],
    ['the tool follows the id', undefined, [{ id: 'a' }, { tool: 'find', json: '{}' }], ['find#a', '{}']],
    ['the tool follows the arguments', 0, [{ id: 'a', json: '{}' }, { tool: 'find' }], ['find#a', '{}']],
    [
      'each piece has another id',
      0,
      [
        { id: 'a', tool: 'find' },
        { id: 'b', json: '{}' },
      ],
      ['find#a', '{}'],
    ],
    [
      'the whole call follows its pieces',
      0,
      [{ id: 'a', tool: 'find', json: '{' }, { json: '}' }, { id: 'a', tool: 'find', json: '{}' }],
      ['find#a', '{', '}'],
    ],
    [
      'two calls have one index and one id',
      0,
      [
        { id: 'a', tool: 'find', json: '{}' },
        { id: 'a', tool: 'find', json: '{"x":1}' },
      ],
      ['find#a', '{}', 'find#a', '{"x":1}'],
    ],
    [
      'two calls have one index, and the second comes in pieces',
      0,
      [{ tool: 'find', json: '{}' }, { tool: 'list' }, { json: '{}' }],
      ['find#new', '{}', 'list#new', '{}'],
    ],
  ] as const) {
    test(`are those of the call if ${name}`, () => {
      assert.deepEqual(ordered(...pieces.map((piece) => ({ index, ...piece }))), expected)
    })
  }

  test('that belong to no call are a failure', () => {
    assert.throws(() => ordered({ json: '{}' }))
    assert.throws(() => ordered({ index: 0, id: 'a', json: '{}' }), 'a call without a tool')
  })
})
