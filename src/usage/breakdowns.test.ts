import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import { breakDown } from './breakdowns.ts'
import { groupFigures, noFigures, totalFigures } from './figures.ts'

const { database } = openOwnDatabase(log)

test('rows of usage and rows of refusals together are no more than were asked for, and the others are summed', async () => {
  const [day, accountId, keyId] = ['2026-03-12', randomUUID(), randomUUID()]
  for (const [model, cost] of [
    ['used most', 20],
    ['used less', 10],
  ] as const) {
    await database.rows(
      `insert into usage_day (day, account_id, key_id, model, requests, input_tokens, cached_tokens, cache_write_tokens,
         output_tokens, cost)
       values ($1, $2, $3, $4, 1, 2, 1, 2, 7, $5)`,
      [day, accountId, keyId, model, cost],
    )
  }
  for (const [model, requests] of [
    ['refused most', 4],
    ['refused less', 3],
  ] as const) {
    await database.rows(
      `insert into refusal_day (day, account_id, key_id, model, code, requests) values ($1, $2, $3, $4, 'overloaded', $5)`,
      [day, accountId, keyId, model, requests],
    )
  }
  const { model, total } = await breakDown(database, { from: day, to: day, accountId }, 2)
  const used = { requests: 1n, inputTokens: 5n, cachedTokens: 1n, cacheWriteTokens: 2n, outputTokens: 7n, refused: 0n }
  assert.deepEqual(
    model.rows.map(({ group, ...figures }) => [group.model, figures]),
    [
      ['used most', { ...used, cost: 20n }],
      ['used less', { ...used, cost: 10n }],
    ],
  )
  assert.deepEqual(model.others, { ...noFigures, refused: 7n })
  assert.deepEqual([total.requests, total.cost, total.refused], [2n, 30n, 7n])
  assert.deepEqual([total.inputTokens, total.cachedTokens, total.cacheWriteTokens], [10n, 2n, 4n])
  const figures = await totalFigures(database, { from: day, to: day, accountId })
  assert.deepEqual([figures.inputTokens, figures.cachedTokens, figures.cacheWriteTokens], [10n, 2n, 4n])
})

test('of many clients, those with the highest cost have rows', async () => {
  const [day, accountId, keyId] = ['2026-03-13', randomUUID(), randomUUID()]
  const clients = Array.from({ length: 4 }, () => randomUUID())
  for (const [index, client] of clients.entries()) {
    await database.rows(
      `insert into usage_day (day, account_id, key_id, model, client_id, requests, input_tokens, output_tokens, cost)
       values ($1, $2, $3, 'm', $4, 1, 1, 1, $5)`,
      [day, accountId, keyId, client, [10, 40, 20, 30][index]],
    )
  }
  const { client } = await breakDown(database, { from: day, to: day, accountId }, 2)
  assert.deepEqual(
    client.rows.map(({ group, cost }) => [group.clientId, cost]),
    [
      [clients[1], 40n],
      [clients[3], 30n],
    ],
  )
  assert.deepEqual([client.others?.requests, client.others?.cost], [2n, 30n])
})

test('a person is selected as a key is, in the groups and in the breakdowns', async () => {
  const [day, accountId, keyId, personId] = ['2026-03-14', randomUUID(), randomUUID(), randomUUID()]
  for (const [key, person, cost] of [
    [keyId, null, 1],
    [null, personId, 2],
    [null, randomUUID(), 4],
  ] as const) {
    await database.rows(
      `insert into usage_day (day, account_id, key_id, person_id, model, requests, input_tokens, output_tokens, cost)
       values ($1, $2, $3, $4, 'm', 1, 1, 1, $5)`,
      [day, accountId, key, person, cost],
    )
  }
  for (const [selected, cost] of [
    [keyId, 1n],
    [personId, 2n],
  ] as const) {
    const filter = { from: day, to: day, keyId: selected }
    const groups = await groupFigures(database, filter, ['key', 'person'], 10)
    assert.deepEqual(
      groups?.map(({ group, cost: sum }) => [group.keyId ?? group.personId, sum]),
      [[selected, cost]],
    )
    assert.equal((await breakDown(database, filter, 10)).total.cost, cost)
  }
})
