import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { fixture } from '../../../../tests/support/fixture.ts'
import { createTestLog } from '../../../../tests/support/log.ts'
import { startLyingProvider, type LyingProvider } from '../../../../tests/support/lying-provider.ts'
import { until } from '../../../../tests/support/until.ts'
import { createDiscovery } from './discovery.ts'

const { log } = createTestLog()
const insecure = 'http://127.0.0.1:9/x'

const provider = fixture(() => startLyingProvider({ secure: true }))
beforeEach(() => provider.beHonest())

const open = ({ issuer }: LyingProvider) => createDiscovery({ issuer, log })

describe('B92: an http address in the document of an https issuer', () => {
  const documents: [field: string, document: Readonly<Record<string, unknown>>][] = [
    ['jwks_uri', { jwks_uri: insecure }],
    ['end_session_endpoint', { end_session_endpoint: insecure }],
    ['authorization_endpoint', { authorization_endpoint: insecure }],
    ['token_endpoint', { token_endpoint: insecure.toUpperCase() }],
    ['userinfo_endpoint', { userinfo_endpoint: insecure }],
    ['check_session_iframe', { check_session_iframe: insecure }],
    ['op_policy_uri', { op_policy_uri: insecure }],
    ['mtls_endpoint_aliases.token_endpoint', { mtls_endpoint_aliases: { token_endpoint: insecure } }],
    ['vendor_extension', { vendor_extension: insecure }],
  ]
  for (const [field, document] of documents) {
    test(`is refused in ${field}, which the error names`, async () => {
      provider.lies.discovery = document
      const discovery = open(provider)
      const message = `its document has an http: address in ${field}, where only https: is safe`
      await assert.rejects(discovery.metadata(), { message })
      assert.deepEqual([discovery.known, discovery.state, discovery.fault], [undefined, 'wrong', message])
      assert.equal(provider.asked.keys, 0, 'nothing else is fetched')
      provider.beHonest()
      await discovery.metadata()
      assert.deepEqual([discovery.state, discovery.fault], ['ready', undefined])
    })
  }

  test('is refused when it appears later: the metadata known so far is no longer used', async () => {
    let now = 0
    const { issuer } = provider
    const discovery = createDiscovery({ issuer, log, clock: () => now })
    const known = await discovery.metadata()
    provider.lies.discovery = { end_session_endpoint: insecure }
    now += 599_999
    assert.equal(await discovery.metadata(), known)
    assert.equal(discovery.state, 'ready')
    now += 1
    await discovery.metadata()
    await until(() => discovery.state === 'wrong')
    assert.equal(discovery.known, undefined)
    await assert.rejects(discovery.metadata(), /end_session_endpoint/)
  })

  test('is accepted where it is an identifier in a list', async () => {
    provider.lies.discovery = { acr_values_supported: ['http://idmanagement.gov/ns/assurance/loa/1'] }
    assert.equal((await open(provider).metadata()).issuer, provider.issuer)
  })
})

test('an http issuer on a loopback address may have http addresses', async () => {
  await using plain = await startLyingProvider()
  assert.equal((await open(plain).metadata()).jwks_uri, `${plain.issuer}/keys`)
})
