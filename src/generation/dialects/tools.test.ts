import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CallPart, Message, ResultPart, Tool } from '../../models/conversation.ts'
import {
  checkParameters,
  checkSchema,
  checkToolChoice,
  checkTools,
  isCallInput,
  listOfTools,
  pairResults,
} from './tools.ts'

const toolOf = (name: string): Tool => ({ name, parameters: { type: 'object' }, field: 'parameters' })
const field = (index: number) => `tools[${index}].function`

/** The problem for a field. */
const refused = (name: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Error && 'code' in error && 'details' in error)
  assert.equal(error.code, 'invalid_field')
  assert.equal(Reflect.get(Object(error.details), 'field'), name)
  assert.match(error.message, message)
  return true
}

/** A schema of this many levels. */
const nested = (levels: number): object => (levels === 1 ? {} : { items: nested(levels - 1) })

/** An object of this many levels. */
const within = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`)

const accepted = (schema: unknown) => assert.equal(checkSchema(schema, 'schema'), schema)
const rejected = (schema: unknown, message: RegExp) =>
  assert.throws(() => checkSchema(schema, 'schema'), refused('schema', message))
const schemaOf = (bytes: number) => ({ description: 'x'.repeat(bytes - '{"description":""}'.length) })

/** How often the fields of a schema are listed, and one of them is looked up, when the schema is checked. */
function looksAt(schema: object): number {
  let looks = 0
  const counting = new Proxy(schema, {
    ownKeys(target) {
      looks++
      return Reflect.ownKeys(target)
    },
    getOwnPropertyDescriptor(target, name) {
      if (name === 'found') looks++
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
  })
  accepted(counting)
  return looks
}
const withReferences = (times: number) => ({
  found: {},
  anyOf: Array.from({ length: times }, () => ({ $ref: '#/found' })),
})

const call = (id: string): CallPart => ({ kind: 'call', id, tool: 'look_up', input: '{}' })
const result = (callId: string): ResultPart => ({ kind: 'result', callId, content: [] })
const fieldOf = (part: CallPart | ResultPart) => (part.kind === 'call' ? `call ${part.id}` : `result ${part.callId}`)
const calls = (...ids: string[]): Message => ({ role: 'assistant', parts: ids.map(call) })
const results = (...ids: string[]): Message => ({ role: 'user', parts: ids.map(result) })
const user: Message = { role: 'user', text: 'Hello' }
const check = (...messages: Message[]) => pairResults(messages, fieldOf)

describe('tools', () => {
  it('are at most 128, with names of up to 64 plain characters that occur once', () => {
    const many = Array.from({ length: 128 }, (_, index) => toolOf(`tool-${index}`))
    checkTools(many, field)
    checkTools([toolOf('A_z-9'.padEnd(64, 'x'))], field)
    assert.equal(listOfTools(many), many)
    assert.deepEqual(listOfTools(undefined), [])
    assert.throws(() => listOfTools([...many, toolOf('more')]), refused('tools', /at most 128/))
    assert.throws(() => listOfTools({}), refused('tools', /a list/))
    for (const name of ['', 'a b', 'a.b', 'ä', 'x'.repeat(65), 'a\n']) {
      assert.throws(() => checkTools([toolOf('a'), toolOf(name)], field), refused('tools[1].function.name', /1 to 64/))
    }
    const twice = () => checkTools([toolOf('a'), toolOf('b'), toolOf('a')], field)
    assert.throws(twice, refused('tools[2].function.name', /no other tool/))
  })

  it('are chosen by their names', () => {
    for (const choice of [undefined, 'auto', 'none', 'required', { tool: 'a' }] as const) {
      checkToolChoice(choice, [toolOf('a')], 'tool_choice.name')
    }
    checkToolChoice('auto', [], 'tool_choice.name')
    for (const [choice, tools, name] of [
      [{ tool: 'b' }, [toolOf('a')], 'tool_choice.name'],
      ['required', [], 'tool_choice'],
    ] as const) {
      assert.throws(() => checkToolChoice(choice, tools, 'tool_choice.name'), refused(name, /tools/))
    }
  })
})

describe('a JSON schema', () => {
  it('is an object of at most 64 KiB and 32 levels', () => {
    accepted(nested(32))
    rejected(nested(33), /32 levels/)
    for (const other of [undefined, null, [], 'object', true]) rejected(other, /an object/)
    accepted(schemaOf(64 * 1024))
    rejected(schemaOf(64 * 1024 + 1), /64 KiB/)
    rejected({ description: 'é'.repeat(33 * 1024) }, /64 KiB/)
    rejected(schemaOf(1024 * 1024), /64 KiB/)
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    rejected({ enum: deep }, /32 levels/)
  })

  it('may refer to its parts, many times', () => {
    const name = { type: 'string' }
    accepted({
      type: 'object',
      properties: { a: { $ref: '#/$defs/name' }, b: { $ref: '#/$defs/pair~1~0of%20names' }, $ref: name },
      items: { $ref: '#/$defs/a~1b~0' },
      $defs: { name, 'a/b~': name, 'pair/~of names': { items: [{ $ref: '#/$defs/name' }, { $ref: '#/$defs/name' }] } },
    })
    // Each doubles the one before it: following every reference anew would take forever.
    const doubling: [string, object][] = Array.from({ length: 64 }, (_, level) => [
      `d${level}`,
      level === 0 ? name : { items: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] },
    ])
    accepted({ $ref: '#/$defs/d63', $defs: Object.fromEntries<object>(doubling) })
  })

  it('is searched for references only if it has any, and each is resolved once', () => {
    const [ofLevels, ofSize] = [2, 2]
    assert.equal(looksAt({ found: {}, required: ['$ref'] }), ofLevels + ofSize)
    assert.ok(looksAt(withReferences(1)) > ofLevels + ofSize)
    assert.equal(looksAt(withReferences(9)), looksAt(withReferences(1)))
  })

  it('does not lead back to itself, directly or not', () => {
    rejected({ $ref: '#' }, /without recursion/)
    rejected({ properties: { child: { $ref: '#' } } }, /without recursion/)
    rejected({ $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } } }, /without recursion/)
    const both = { a: { items: { $ref: '#/$defs/b' } }, b: { items: { $ref: '#/$defs/a' } } }
    rejected({ properties: { a: { $ref: '#/$defs/a' } }, $defs: both }, /without recursion/)
    rejected({ items: { $recursiveRef: '#' } }, /without recursion/)
    rejected({ items: { $dynamicRef: '#' } }, /without recursion/)
  })

  it('refers to nothing else', () => {
    for (const $ref of [
      'https://example.com/schema.json',
      'other.json#/a',
      '#name',
      '#/$defs/none',
      '#/%E0%A4%A',
      '#/type',
      '',
    ]) {
      rejected({ type: 'object', items: { $ref } }, /references are JSON pointers/)
    }
    rejected({ items: { $ref: '#/constructor' } }, /references are JSON pointers/)
  })

  it('of arguments is of type object', () => {
    assert.deepEqual(checkParameters({ type: 'object' }, 'parameters'), { type: 'object' })
    for (const schema of [{}, { type: 'string' }, { type: ['object'] }]) {
      assert.throws(() => checkParameters(schema, 'parameters'), refused('parameters', /of type object/))
    }
  })
})

describe('the arguments of a call', () => {
  it('are an object of at most 128 levels', () => {
    for (const value of [{}, { a: [1] }, within(128)]) assert.ok(isCallInput(value))
    for (const value of [null, [], 'a', 1, undefined, within(129), within(100_000)]) assert.ok(!isCallInput(value))
  })
})

describe('a conversation with calls', () => {
  it('has one result for every call, in any order', () => {
    check(user)
    check(
      user,
      calls('a', 'b'),
      results('b', 'a'),
      user,
      calls('c'),
      { role: 'system', text: 'Be brief.' },
      results('c'),
    )
  })

  it('has no result without its call', () => {
    assert.throws(() => check(user, results('a')), refused('result a', /an earlier call/))
    assert.throws(() => check(user, results('a'), calls('a')), refused('result a', /an earlier call/))
    assert.throws(() => check(user, calls('a'), results('a', 'b')), refused('result b', /an earlier call/))
    assert.throws(() => check(user, calls('a'), results('a', 'a')), refused('result a', /no other result/))
    assert.throws(() => check(user, calls('a'), results('a'), results('a')), refused('result a', /no other result/))
  })

  it('has no call without its result before the next turn of the user', () => {
    assert.throws(() => check(user, calls('a'), user), refused('call a', /answered by a result/))
    assert.throws(() => check(user, calls('a', 'b'), results('b'), user), refused('call a', /answered by a result/))
    assert.throws(() => check(user, calls('a', 'a'), results('a')), refused('call a', /answered by a result/))
  })

  it('can have something between the results of a turn, unless the user says it', () => {
    const system: Message = { role: 'system', text: 'Be brief.' }
    const divided = [user, calls('a', 'b'), results('a'), system, results('b')]
    assert.deepEqual(check(...divided, user), [...divided, user])
    assert.throws(() => check(user, calls('a', 'b'), results('a'), user, results('b')), refused('call b', /answered/))
    assert.throws(() => check(...divided.slice(0, 4)), refused('call b', /answered by a result/))
  })

  it('gets other ids for calls that repeat one, and each result that of the first call without one', () => {
    const once = [user, calls('a', 'b'), results('b', 'a'), { role: 'system', text: 'Be brief.' }] as const
    assert.deepEqual(check(...once), once)
    assert.deepEqual(check(...once, calls('a'), results('a'), calls('a_2', 'a'), results('a', 'a_2')), [
      ...once,
      calls('a_2'),
      results('a_2'),
      calls('a_2_2', 'a_3'),
      results('a_3', 'a_2_2'),
    ])
    assert.deepEqual(check(user, calls('a', 'a'), results('a', 'a')), [user, calls('a', 'a_2'), results('a', 'a_2')])
  })

  it('is read in a moment even if one id occurs thousands of times', () => {
    const ids = Array.from({ length: 20_000 }, () => 'a')
    const [, called] = check(user, calls(...ids), results(...ids))
    assert.equal(called?.parts?.length, ids.length)
    assert.equal(new Set(called.parts.map((part) => part.kind === 'call' && part.id)).size, ids.length)
  })
})
