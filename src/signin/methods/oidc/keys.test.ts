import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { clientSecret, startLyingProvider, type LyingProvider } from '../../../../tests/support/lying-provider.ts'
import { until } from '../../../../tests/support/until.ts'
import { createProviderKeys } from './keys.ts'

let provider: LyingProvider

before(async () => {
  provider = await startLyingProvider()
})
after(() => provider.close())
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
    await provider.keys.rotate()
    await verify(await sign())
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

  test('are renewed behind the back of whoever signs in', async () => {
    const { verify, pass } = openKeys()
    const token = await sign()
    await verify(token)
    const asked = provider.asked.keys
    pass(5 * minute)
    provider.lies.keys = 'slow'
    const start = performance.now()
    await verify(token)
    const passed = performance.now() - start
    assert.ok(passed < 3900, `${passed} ms: an answer would have been waited for 4 s`)
    await until(() => provider.asked.keys === asked + 1)
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
