import assert from 'node:assert/strict'
import { beforeEach, describe, mock, test } from 'node:test'
import { fixture } from '../../../../tests/support/fixture.ts'
import { clientSecret, startLyingProvider } from '../../../../tests/support/lying-provider.ts'
import { until } from '../../../../tests/support/until.ts'
import { createProviderKeys } from './keys.ts'

const provider = fixture(() => startLyingProvider())
beforeEach(() => provider.beHonest())

const second = 1000
const minute = 60 * second

/** Keys on a clock that stands still until it is moved. */
function openKeys() {
  let now = 0
  const keys = createProviderKeys({ uri: async () => `${provider.issuer}/keys`, clock: () => now })
  return { verify: keys.verify, pass: (ms: number) => (now += ms) }
}

const sign = (header: Readonly<Record<string, unknown>> = {}) =>
  provider.keys.sign({ sub: 'a' }, { header, secret: clientSecret })

describe('B11: the keys of a provider', () => {
  test('are asked for once for many tokens', async () => {
    const { verify } = openKeys()
    const asked = provider.asked.keys
    const token = await sign()
    await Promise.all(Array.from({ length: 20 }, () => verify(token)))
    assert.equal(provider.asked.keys, asked + 1)
  })

  test('that are new are found at once, however lately we asked', async () => {
    const { verify } = openKeys()
    await verify(await sign())
    const asked = provider.asked.keys
    await provider.keys.rotate()
    await verify(await sign())
    assert.equal(provider.asked.keys, asked + 1)
  })

  test('that nobody knows make us ask once in 30 s', async () => {
    const { verify, pass } = openKeys()
    await verify(await sign())
    const asked = provider.asked.keys
    for (let token = 0; token < 60; token++) {
      await assert.rejects(verify(await sign({ kid: `stray-${token}` })))
      pass(second)
    }
    assert.equal(provider.asked.keys, asked + 2)
  })

  test('that are withdrawn stop within ten minutes', async () => {
    const { verify, pass } = openKeys()
    const old = await sign()
    await verify(old)
    await provider.keys.rotate({ withdraw: true })
    pass(10 * minute)
    await assert.rejects(verify(old))
  })

  test('that are withdrawn stop within ten minutes though the provider does not answer', async () => {
    const { verify, pass } = openKeys()
    const old = await sign()
    await verify(old)
    provider.lies.keys = 'error'
    pass(10 * minute - second)
    await verify(old)
    pass(second)
    await assert.rejects(verify(old))
    provider.beHonest()
    await verify(old)
  })

  test('are refetched in the background', async () => {
    const { verify, pass } = openKeys()
    const token = await sign()
    await verify(token)
    const asked = provider.asked.keys
    pass(5 * minute)
    provider.lies.keys = 'slow'
    provider.lies.delay = 100_000
    // The deadline never comes, so a caller that waits for the response waits for ever.
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      await verify(token)
      await until(() => provider.asked.keys === asked + 1)
      mock.timers.tick(5000)
    } finally {
      mock.timers.reset()
    }
  })

  test('that are too weak are replaced at once, by one with a new id or the same', async () => {
    for (const kid of [undefined, 'reused']) {
      const { verify } = openKeys()
      await provider.keys.rotate({ withdraw: true, weak: true, ...(kid !== undefined && { kid }) })
      for (let tries = 0; tries < 3; tries++) await assert.rejects(verify(await sign()), TypeError)
      await provider.keys.rotate({ withdraw: true })
      await verify(await sign())
    }
    const { verify, pass } = openKeys()
    await provider.keys.rotate({ withdraw: true, weak: true, kid: 'reused' })
    await assert.rejects(verify(await sign()), TypeError)
    await provider.keys.rotate({ withdraw: true, kid: 'reused' })
    pass(30 * second)
    await verify(await sign())
  })

  test('that are too weak cause one refetch in 30 s', async () => {
    const { verify, pass } = openKeys()
    await provider.keys.rotate({ withdraw: true, weak: true })
    const asked = provider.asked.keys
    for (let token = 0; token < 60; token++) {
      await assert.rejects(verify(await sign()), TypeError)
      pass(second)
    }
    assert.equal(provider.asked.keys, asked + 1 + 2)
    await provider.keys.rotate({ withdraw: true })
  })

  test('that are too weak do not hide a good one from a token that names none', async () => {
    const { verify } = openKeys()
    await provider.keys.rotate({ withdraw: true })
    const token = await sign({ kid: undefined })
    await provider.keys.rotate({ weak: true })
    const asked = provider.asked.keys
    await verify(token)
    assert.equal(provider.asked.keys, asked + 1, 'both were fetched')
    await provider.keys.rotate({ withdraw: true })
  })

  test('of a token that does not name its own are all tried', async () => {
    const { verify } = openKeys()
    const first = await sign({ kid: undefined })
    await provider.keys.rotate()
    for (const token of [first, await sign({ kid: undefined })]) await verify(token)
    const stranger = await provider.keys.sign(
      { sub: 'a' },
      { signature: 'stranger', header: { kid: undefined }, secret: clientSecret },
    )
    await assert.rejects(verify(stranger))
  })
})
