import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { at, listAt } from '../../../tests/support/json.ts'
import { modelsText, withModels } from './models-text.ts'

const entry = { id: 'new', endpoints: [{ url: 'https://x/v1', key: '${KEY}' }], capabilities: ['tools'] }
const lines = ['- id: new', '  endpoints: [ { url: https://x/v1, key: "${KEY}" } ]', '  capabilities: [ tools ]']
const idsIn = (source: string) => listAt(parse(source), 'models').map((model) => at(model, 'id'))
const indented = lines.map((line) => `  ${line}\n`).join('')

test('entries are written with their lists in one line', () => {
  assert.equal(modelsText([entry]), lines.map((line) => `${line}\n`).join(''))
})

describe('entries are added to models, and nothing else changes', () => {
  const accepted: readonly [string, string, string, string][] = [
    ['before the rest', 'models:\n  - id: a # first\n', indented, '\n# About aliases.\naliases: {}\n'],
    ['at the end', 'models:\n  - id: a\n', indented, ''],
    ['without indentation', 'models:\n- id: a\n', indented.replaceAll(/^ {2}/gm, ''), '# About b.\nb: 1\n'],
    ['after a comment of the last entry', 'models:\n  - id: a\n    # more\n', indented, '\nb: 1\n'],
    ['after an entry in one line', 'models:\n  - { id: a } # first\n', indented, '\n\n\nb: 1\n'],
    ['after a block of text', 'models:\n  - id: |\n      a\n', indented, '\nb: 1\n'],
    ['without models', 'b: 1 # one\n', `models:\n${indented}`, ''],
    ['without any setting', '# Nothing yet.\n', `models:\n${indented}`, ''],
    ['in an empty file', '', `models:\n${indented}`, ''],
    ['before the end of the document', 'b: 1\n', `models:\n${indented}`, '...\n'],
    ['with carriage returns', 'models:\r\n  - id: a\r\n', indented.replaceAll('\n', '\r\n'), 'b: 1\r\n'],
  ]
  for (const [name, before, added, after] of accepted) {
    test(name, () => assert.equal(withModels(before + after, [entry]), before + added + after))
  }

  test('in a last line without an end', () => {
    assert.equal(withModels('models:\n  - id: a', [entry]), `models:\n  - id: a\n${indented}`)
    assert.equal(withModels('b: 1 # one', [entry]), `b: 1 # one\nmodels:\n${indented}`)
  })

  test('in the example, line by line', () => {
    const source = readFileSync('tollgate.example.yaml', 'utf8')
    const text = withModels(source, [entry, { ...entry, id: 'another' }]) ?? ''
    const left = text.split('\n')
    for (const line of source.split('\n')) left.splice(left.indexOf(line), 1)
    assert.deepEqual(
      left.toSorted(),
      [...lines, ...lines.map((line) => line.replace('new', 'another'))].map((line) => `  ${line}`).toSorted(),
    )
    assert.deepEqual(idsIn(text), [...idsIn(source), 'new', 'another'])
  })
})

describe('there is no place for entries', () => {
  for (const [name, source] of [
    ['in a list in one line', 'models: [{ id: a }]\n'],
    ['in settings in one line', '{ b: 1 }\n'],
    ['in a reference', 'b: &all\n  - id: a\nmodels: *all\n'],
    ['in several documents', 'b: 1\n---\nc: 1\n'],
    ['in broken YAML', 'models:\n  - id: "a\n'],
    ['in a list of something else', '- a\n'],
  ] as const) {
    test(name, () => assert.equal(withModels(source, [entry]), undefined))
  }
})
