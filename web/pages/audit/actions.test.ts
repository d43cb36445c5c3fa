import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { actions } from './actions.ts'

const root = path.join(import.meta.dirname, '../../..')

/** Patterns of source code that name an audit action. */
const places = [
  /\baction: '([a-z]+_[a-z_]+)'/g,
  /\bchangeEvent\((?:by|visitOf\(request\)), '([a-z]+_[a-z_]+)'/g,
  /\bdeedOf\('([a-z]+_[a-z_]+)'/g,
  /\bownEntry\('([a-z]+_[a-z_]+)'/g,
  /\brecord\(tx, by, '([a-z]+_[a-z_]+)'/g,
  /return \[.*, '([a-z]+_[a-z_]+)'\]/g,
  /`'([a-z]+_[a-z_]+)'`/g,
  /const action = .*\? '([a-z_]+)' : '([a-z_]+)'/g,
  /then '([a-z]+_[a-z_]+)' else '([a-z]+_[a-z_]+)'/g,
  /when '[a-z]+' then '([a-z]+_[a-z_]+)'/g,
  /else array\['([a-z]+_[a-z_]+)'\]/g,
]

test('every action of the audit log can be filtered by', () => {
  const files = globSync('src/**/*.ts', { cwd: root })
  const sources = files
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(path.join(root, file), 'utf8'))
  const literal = sources.flatMap((source) =>
    places.flatMap((place) => [...source.matchAll(place)].flatMap(([, ...names]) => names)),
  )
  for (const name of [
    'sign_in',
    'role_changed',
    'person_enabled',
    'identity_added',
    'person_invited',
    'client_assigned',
    'client_changed',
    'client_archived',
    'client_unarchived',
    'key_rotated',
    'price_set',
  ]) {
    assert.ok(literal.includes(name), `${name} is found in the sources`)
  }
  const composed = [
    ...['notes', 'disputes', 'letters', 'documents', 'tasks', 'contacts', 'time_entries', 'expenses'].map(
      (plural) => `${plural}_listed`,
    ),
    ...['note', 'dispute', 'letter', 'document', 'task', 'contact', 'time_entry', 'expense'].flatMap((noun) => [
      `${noun}_read`,
      `${noun}_archived`,
    ]),
  ]
  assert.deepEqual(
    [...new Set([...literal, ...composed])].filter((name) => !actions.includes(name)),
    [],
  )
})

test('no action is listed twice', () => {
  assert.equal(new Set(actions).size, actions.length)
})
