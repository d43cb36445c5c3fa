import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type, type TSchema } from 'typebox'
import { compileBody } from './validation.ts'

/** The reason why a value does not match a schema; undefined if it does. */
function refusal(shape: TSchema, value: unknown): string | undefined {
  try {
    compileBody(Type.Object({ it: Type.Optional(shape) }, { additionalProperties: false }))({ it: value })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^The field it /, '') : undefined
  }
}

const choice = Type.Enum(['active', 'archived', 'all'])
const line = Type.String({ format: 'line', minLength: 1, maxLength: 10 })
const maybe = Type.Union([line, Type.Null()])
const texts = Type.Union([Type.String(), Type.Array(Type.String())])

describe('why a value is refused', () => {
  const cases: [TSchema, unknown, string][] = [
    [choice, 'gone', 'must be active, archived or all, but is something else.'],
    [choice, ['all', 'active'], 'must be active, archived or all, but is a list.'],
    [choice, null, 'must be active, archived or all, but is null.'],
    [choice, 5, 'must be active, archived or all, but is a number.'],
    [Type.Enum(['only']), '', 'must be only, but is empty.'],
    [Type.Literal('text'), 'image', 'must be text, but is something else.'],
    [Type.Literal(false), true, 'must be false, but is true.'],
    [Type.Array(Type.String(), { minItems: 1, maxItems: 9 }), [], 'must be a list of 1 to 9, but has 0.'],
    [Type.Array(Type.String(), { minItems: 2 }), ['a'], 'must be a list of at least 2, but has 1.'],
    [maybe, '', 'must be one line of text of at most 10 characters, but is empty.'],
    [maybe, 'x'.repeat(11), 'must be one line of text of at most 10 characters, but has 11.'],
    [maybe, false, 'must be one line of text of at most 10 characters or null, but is true or false.'],
    [line, 'a\nb', 'must be one line of text of at most 10 characters, but has a line break.'],
    [line, ' \u3000', 'must be one line of text of at most 10 characters, but is blank.'],
    [texts, 5, 'must be a string or a list, but is 5.'],
    [Type.String({ format: 'page-size' }), '0', 'must be a whole number from 1 to 200, but is something else.'],
    [Type.String({ format: 'page-size' }), '201', 'must be a whole number from 1 to 200, but is something else.'],
    [Type.String({ format: 'date' }), 'today', 'must be a date such as 2026-03-12, but is something else.'],
  ]
  for (const [shape, value, reason] of cases) {
    test(`${JSON.stringify(value)}: it ${reason}`, () => assert.equal(refusal(shape, value), reason))
  }

  test('with several alternatives reports the field at fault', () => {
    assert.equal(refusal(texts, ['a', 5]), 'The field it[1] must be a string, but is a number.')
  })

  test('of a list or an object that is too long is found without a look at what it has', () => {
    let looks = 0
    const item = {
      get text() {
        looks += 1
        return 'a'
      },
    }
    const items = Type.Array(Type.Object({ text: Type.String() }), { maxItems: 2 })
    assert.equal(refusal(items, [item, item]), undefined)
    assert.ok(looks > 0)
    looks = 0
    assert.equal(refusal(items, [item, item, item]), 'must be a list of at most 2, but has 3.')
    const pairs = Type.Object({}, { additionalProperties: Type.Object({ text: Type.String() }), maxProperties: 2 })
    assert.equal(refusal(pairs, { a: item, b: item, c: item }), 'must be an object of at most 2 fields, but has 3.')
    assert.equal(looks, 0)
    assert.match(String(refusal(items, [item, {}])), /it\[1\]\.text is missing/)
    assert.match(String(refusal(pairs, { a: item, b: {} })), /it\.b\.text is missing/)
  })

  test("never quotes the caller's text", () => {
    assert.doesNotMatch(refusal(choice, 'secret') ?? '', /secret/)
  })
})

test('a valid value is accepted', () => {
  for (const [shape, value] of [
    [choice, 'all'],
    [maybe, null],
    [maybe, 'Ó Néill'],
    [texts, ['a']],
    [Type.String({ format: 'page-size' }), '200'],
  ] as const) {
    assert.equal(refusal(shape, value), undefined, JSON.stringify(value))
  }
})
