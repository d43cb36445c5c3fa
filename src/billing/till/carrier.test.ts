import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { createTestLog } from '../../../tests/support/log.ts'
import { Problem } from '../../platform/problems.ts'
import { createAllowances } from '../allowances/allowances.ts'
import type { TillItem } from './batch-item.ts'
import { BatchQueue } from './batch-queue.ts'
import { createCarrier } from './carrier.ts'

const never = async (): Promise<never> => assert.fail('not called')

/** A carrier whose connection can be closed and opened, and that carries nothing by itself. */
function openCarrier() {
  const queue = new BatchQueue()
  const allowances = createAllowances()
  const lost = mock.method(allowances, 'lost')
  let resets = 0
  const instance = {
    till: never,
    exchange: never,
    reap: never,
    close: never,
    isConnected: () => true,
    reset: async () => void resets++,
  }
  const carrier = createCarrier({ queue, instance, allowances, log: createTestLog().log })
  return { queue, carrier, outages: () => ({ resets, lost: lost.mock.callCount() }) }
}

function itemOf(id: string, ended: string[]): TillItem {
  return {
    kind: 'admit',
    id,
    payload: { hold: id },
    deadline: Infinity,
    received: false,
    sent: false,
    abandoned: false,
    resolve: () => void ended.push(`${id} resolved`),
    reject: () => void ended.push(`${id} rejected`),
  }
}

test('if the connection is lost while items are sent alone, the rest and the following ones are queued again', async () => {
  const { queue, carrier, outages } = openCarrier()
  const ended: string[] = []
  const [bad, good, lost, last, following] = ['bad', 'good', 'lost', 'last', 'following'].map((id) => itemOf(id, ended))
  assert.ok(bad && good && lost && last && following)
  const sent: string[] = []
  const send = async (items: readonly TillItem[]) => {
    sent.push(items.map(({ id }) => id).join(' '))
    if (items.includes(bad)) throw new Error('refused')
    if (items.includes(lost)) throw new Problem('unavailable', 'The connection is lost.')
    for (const item of items) item.resolve(undefined)
  }
  assert.equal(await carrier.carry([bad, good, lost, last], send, [following]), false)
  assert.deepEqual(sent, ['bad good lost last', 'bad', 'good', 'lost'])
  assert.deepEqual(ended, ['bad rejected', 'good resolved'])
  assert.deepEqual(outages(), { resets: 1, lost: 1 })
  assert.deepEqual(queue.take(Infinity), [lost, last, following])
})

test('items that were all sent alone are not queued again', async () => {
  const { queue, carrier } = openCarrier()
  const ended: string[] = []
  const [bad, good, following] = ['bad', 'good', 'following'].map((id) => itemOf(id, ended))
  assert.ok(bad && good && following)
  const send = async (items: readonly TillItem[]) => {
    if (items.includes(bad)) throw new Error('refused')
    for (const item of items) item.resolve(undefined)
  }
  assert.equal(await carrier.carry([bad, good], send, [following]), true)
  assert.deepEqual(ended, ['bad rejected', 'good resolved'])
  assert.equal(queue.length, 0)
})
