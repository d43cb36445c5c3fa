import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFactorPolicy } from '../../factor-policy.ts'
import type { SecondFactor } from '../method.ts'
import { createMinimum } from './minimum-length.ts'

const id = '01990000-0000-7000-8000-00000000000a'
const factor = (isBackup: boolean): SecondFactor => ({
  id: 'pin',
  name: 'PIN',
  isBackup,
  isSetUp: async () => true,
  begin: async () => ({ data: {}, challenge: {} }),
  complete: async () => undefined,
})

describe('B49: the fewest characters of a password', () => {
  for (const [isBackup, expected] of [
    [false, 8],
    [true, 15],
  ] as const) {
    test(`are ${expected} beside a ${isBackup ? 'backup, which is no second factor' : 'second factor'}`, async () => {
      const factorPolicy = createFactorPolicy({
        policy: 'optional',
        factors: [factor(isBackup)],
        hasStored: async () => false,
      })
      const minimumOf = createMinimum({ setting: 'optional', factorPolicy })
      assert.equal(await minimumOf({ id, role: 'partner' }), expected)
      assert.equal(await minimumOf(undefined), 15)
    })
  }

  test('are 15 beside a second factor that nobody is asked for', async () => {
    const factorPolicy = createFactorPolicy({ policy: 'off', factors: [factor(false)], hasStored: async () => true })
    assert.equal(await createMinimum({ setting: 'off', factorPolicy })({ id, role: 'partner' }), 15)
  })
})
