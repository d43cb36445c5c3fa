import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFinder } from './networks.ts'

const refused = { code: 'forbidden_network' }

test('addresses that are not public are refused, in every form', async () => {
  const find = createFinder([])
  for (const host of [
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fc00::1]',
    '[ff02::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
  ]) {
    await assert.rejects(find(host), refused, host)
  }
  for (const host of ['http://2130706433/', 'http://0x7f.1/', 'http://127.1/']) {
    await assert.rejects(find(new URL(host).hostname), refused, host)
  }
  for (const host of ['1.1.1.1', '172.32.0.1', '[2606:4700::1111]']) {
    assert.equal((await find(host)).length, 1, host)
  }
})

test('allowed networks are reached, and no others', async () => {
  const find = createFinder(['10.0.0.0/8', '192.168.1.1', 'fd00::/8'])
  for (const host of ['10.1.2.3', '192.168.1.1', '[fd00::1]', '1.1.1.1'])
    assert.equal((await find(host)).length, 1, host)
  for (const host of ['192.168.1.2', '127.0.0.1', '[fc00::1]']) await assert.rejects(find(host), refused, host)
})

test('a name is refused if one of its addresses is', async () => {
  const addresses = [
    { address: '1.1.1.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  await assert.rejects(createFinder([], async () => addresses)('example.com'), refused)
  assert.deepEqual(await createFinder([], async () => addresses.slice(0, 1))('example.com'), addresses.slice(0, 1))
})
