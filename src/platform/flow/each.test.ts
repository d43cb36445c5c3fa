import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEach } from './each.ts'

const line = (item: string) => [{ err: new Error(`not ${item}`), item }, 'failed']

test('an item that fails does not hold up the others, and is logged until it has worked again', async () => {
  const logged: unknown[] = []
  const tried: string[] = []
  const faulty = new Set(['b', 'c'])
  const each = createEach({
    label: (item: string) => ({ item }),
    failure: 'failed',
    log: { warn: (...said: unknown[]) => void logged.push(said) },
  })
  const work = async (item: string) => {
    tried.push(item)
    if (faulty.has(item)) throw new Error(`not ${item}`)
  }
  await each(['a', 'b', 'c', 'd'], work)
  assert.deepEqual(tried, ['a', 'b', 'c', 'd'])
  assert.deepEqual(logged, [line('b'), line('c')])
  await each(['a', 'b', 'c'], work)
  assert.equal(logged.length, 2, 'not again')
  faulty.delete('b')
  await each(['b', 'c'], work)
  faulty.add('b')
  await each(['b', 'c'], work)
  assert.deepEqual(logged, [line('b'), line('c'), line('b')])
})
