import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Extent, FilePart } from './conversation.ts'
import { fileTokens } from './counted.ts'

const fileOf = (extent: Extent, detail?: FilePart['detail']): FilePart => ({
  kind: 'file',
  mediaType: 'x/y',
  data: '',
  extent,
  field: 'x',
  detail,
})
const tokens = (model: string, width: number, height: number, detail?: FilePart['detail']) =>
  fileTokens({ messages: [{ role: 'user', parts: [fileOf({ width, height }, detail)] }] }, model)

describe('the tokens of an image', () => {
  test("follow the examples in OpenAI's documentation", () => {
    assert.equal(tokens('gpt-4o', 1024, 1024, 'high'), 765)
    assert.equal(tokens('openai/gpt-4o-2024-11-20', 2048, 4096), 1105)
    assert.equal(tokens('gpt-4.1', 4096, 8192, 'low'), 85)
    assert.equal(tokens('gpt-4o-mini', 1024, 1024), 2833 + 4 * 5667)
    assert.equal(tokens('gpt-4.1-mini', 1024, 1024), Math.ceil(1024 * 1.62))
    assert.equal(tokens('o4-mini', 1800, 2400), Math.ceil(1536 * 1.72))
    assert.equal(tokens('gpt-4.1-nano', 1800, 2400, 'low'), Math.ceil(1536 * 2.46))
    assert.equal(tokens('o3', 512, 512), 75 + 150)
    assert.equal(tokens('gpt-5', 512, 512), 70 + 140)
  })

  test("are at least those of Anthropic's documentation", () => {
    for (const [width, height] of [
      [200, 200],
      [1000, 1000],
      [1092, 1092],
    ] as const) {
      assert.ok(tokens('anthropic/claude-sonnet-4', width, height) >= Math.floor((width * height) / 784))
    }
    assert.equal(tokens('claude-opus-4', 8000, 8000), 4784)
  })

  test('are bounded by the larger of the rules for any other model', () => {
    for (const [width, height] of [
      [1, 1],
      [513, 513],
      [1024, 1024],
      [3, 8000],
      [4032, 3024],
      [8000, 8000],
    ] as const) {
      const most = tokens('mystery', width, height)
      for (const model of ['gpt-4o', 'claude-opus-4', 'o3', 'gpt-5']) {
        assert.ok(tokens(model, width, height) <= most, `${model}: ${width} × ${height}`)
      }
      assert.ok(most <= 16_384)
    }
    // The 12 megapixels of a telephone at the price of OpenAI's newest models.
    assert.ok(tokens('gpt-6', 4032, 3024) >= 126 * 95 * 1.2)
  })
})

/** The tokens of files that stand in a message as well as in the result of a call. */
const countTwice = (...parts: FilePart[]) =>
  fileTokens(
    {
      messages: [
        { role: 'user', text: 'Hello' },
        { role: 'user', parts: [{ kind: 'result', callId: 'a', content: parts }, ...parts] },
      ],
    },
    'gpt-4o',
  )

test('every page of a document costs its text and an image, and results of calls count', () => {
  assert.equal(countTwice(fileOf({ pages: 1 })), 2 * (3000 + 85 + 6 * 170))
  assert.equal(countTwice(fileOf({ pages: 7 })), 7 * countTwice(fileOf({ pages: 1 })))
  assert.equal(countTwice(), 0)
})
