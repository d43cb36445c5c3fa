import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Problem } from '../../problems.ts'
import { boundaryOf, createFormSplitter } from './multipart.ts'

/** A form of parts, each with the parameters of its header. */
const form = (...listed: readonly (readonly [parameters: string, content: string])[]): string =>
  `preamble\r\n${listed
    .map(([parameters, content]) => `--b\r\nContent-Disposition: form-data${parameters}\r\n\r\n${content}\r\n`)
    .join('')}--b--\r\nepilogue`

/** The parts of a body that arrives in chunks of this length. */
function parts(body: string, length = body.length): (readonly [string, string | undefined, string])[] {
  const splitter = createFormSplitter('b')
  const bytes = Buffer.from(body)
  const found: [string, string | undefined, string][] = []
  for (let at = 0; at < bytes.length; at += length) {
    for (const piece of splitter.push(bytes.subarray(at, at + length))) {
      if (piece.isFirst) found.push([piece.name, piece.fileName, ''])
      const last = found.at(-1) ?? assert.fail('a piece before its part')
      last[2] += piece.bytes.toString('latin1')
    }
  }
  splitter.end()
  return found
}

const refused = (body: string) =>
  assert.throws(
    () => parts(body),
    (error) => error instanceof Problem && error.code === 'malformed_request',
  )

describe('the parts of a form', () => {
  test('are the same wherever the body is cut, and also if two have one name', () => {
    const body = form(['; name="a"', '1\r\n--c'], ['; name="a"', '2'], ['; name="empty"', ''], ['; name="b"', '\r\n'])
    for (let length = 1; length <= body.length; length++) {
      assert.deepEqual(parts(body, length), [
        ['a', undefined, '1\r\n--c'],
        ['a', undefined, '2'],
        ['empty', undefined, ''],
        ['b', undefined, '\r\n'],
      ])
    }
  })

  const headers: readonly (readonly [parameters: string, name: string, fileName: string | undefined])[] = [
    ['; name=plain; filename=a.txt', 'plain', 'a.txt'],
    ['; filename="x; name=other.txt"; name="file"', 'file', 'x; name=other.txt'],
    ['; filename="a; name=\\"other\\""; name=file', 'file', 'a; name="other"'],
    ['; name="a%22b"; filename="c%0D%0Ad.txt";', 'a"b', 'c\r\nd.txt'],
    ['; Name="file"; filename="C:\\dir\\a.txt"', 'file', 'C:\\dir\\a.txt'],
    ['; name="file"; filename*=UTF-8\'\'x.txt', 'file', undefined],
  ]
  for (const [parameters, name, fileName] of headers) {
    test(`have the name and the file name of "form-data${parameters}"`, () => {
      assert.deepEqual(parts(form([parameters, 'x'])), [[name, fileName, 'x']])
    })
  }

  test('are refused without a name, with two, with a broken header, and without their end', () => {
    for (const parameters of ['', '; filename="a"', '; name="a"; name="b"', '; name="a', '; name="a"x', '; "a"'])
      refused(form([parameters, 'x']))
    refused(form(['; name="a"', 'x']).replace('--b--', '--c--'))
  })
})

test('the boundary of a form is named in its type', () => {
  assert.equal(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"'), 'a b')
  assert.equal(boundaryOf('Multipart/Form-Data;boundary=ab'), 'ab')
  for (const type of [undefined, 'multipart/form-data', 'application/json; boundary=a'])
    assert.throws(() => boundaryOf(type), Problem)
})
