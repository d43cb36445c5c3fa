import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { networkOf, senderNetworkOf } from './network.ts'
import { visitorOf } from './visitor.ts'

test('what a browser says of itself becomes a few words', () => {
  const cases: [string | undefined, string][] = [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      'Chrome on Windows',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1',
      'Chrome on iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.0', 'Unknown browser'],
    ['<script>alert(1)</script> Linux', 'Unknown browser on Linux'],
    ['', 'Unknown browser'],
    [undefined, 'Unknown browser'],
  ]
  for (const [agent, words] of cases) {
    const { device } = visitorOf({ headers: { 'user-agent': agent }, ip: '::1', id: '' })
    assert.equal(device, words, String(agent))
  }
})

test('an address becomes the network that it is in', () => {
  const cases: [string, string][] = [
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:aa:bb::1', '2001:db8:aa::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['::1', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['', 'unknown'],
    ['nonsense', 'unknown'],
  ]
  for (const [address, network] of cases) assert.equal(networkOf(address), network, address)
})

describe('the network that a limit applies to', () => {
  const cases = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0DB8::2:3:4:5:6', '2001:db8:0:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
  ] as const
  for (const [address, network] of cases) {
    test(`${address} is in ${network}`, () => assert.equal(senderNetworkOf(address), network))
  }
})
