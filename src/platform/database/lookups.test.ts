import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLookups } from './lookups.ts'
import { valuesOf } from '../../../tests/support/json.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A reader whose queries the test completes. */
function createReader() {
  const queries: { ids: readonly string[]; end: (fault?: Error) => void }[] = []
  const read = (ids: readonly string[]) =>
    new Promise<ReadonlyMap<string, string>>((resolve, reject) => {
      const found = new Map(ids.filter((id) => id !== 'nobody').map((id) => [id, `${id} ${queries.length + 1}`]))
      queries.push({ ids, end: (fault) => (fault ? reject(fault) : resolve(found)) })
    })

  return { queries, read }
}

test('lookups during a query are combined for the next, each id once', async () => {
  const { queries, read } = createReader()
  const lookUp = createLookups(read)
  const first = lookUp('a')
  await turn()
  const others = [lookUp('b'), lookUp('c'), lookUp('b'), lookUp('nobody')]
  await turn()
  assert.deepEqual(valuesOf(queries, 'ids'), [['a']])
  queries[0]?.end()
  assert.equal(await first, 'a 1')
  await turn()
  assert.deepEqual(queries[1]?.ids, ['b', 'c', 'nobody'])
  queries[1]?.end()
  assert.deepEqual(await Promise.all(others), ['b 2', 'c 2', 'b 2', undefined])
})

test('results are read after their lookup began, even if a running query has the same id', async () => {
  const { queries, read } = createReader()
  const lookUp = createLookups(read)
  const before = lookUp('a')
  await turn()
  const after = lookUp('a')
  queries[0]?.end()
  assert.equal(await before, 'a 1')
  await turn()
  queries[1]?.end()
  assert.equal(await after, 'a 2')
})

test('a running query is shared while it is fresh enough', async () => {
  const { queries, read } = createReader()
  const lookUp = createLookups(read, 60_000)
  const asked = [lookUp('a')]
  await turn()
  asked.push(lookUp('a'))
  queries[0]?.end()
  assert.deepEqual(await Promise.all(asked), ['a 1', 'a 1'])
  assert.equal(queries.length, 1)
})

test('a failed query fails its own lookups and no others', async () => {
  const { queries, read } = createReader()
  const lookUp = createLookups(read)
  const failing = assert.rejects(lookUp('a'), /away/)
  await turn()
  const next = lookUp('b')
  queries[0]?.end(new Error('away'))
  await failing
  await turn()
  queries[1]?.end()
  assert.equal(await next, 'b 2')
})
