import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFactorPolicy } from './factor-policy.ts'
import type { SecondFactor } from './methods/method.ts'

const id = '01990000-0000-7000-8000-00000000000a'
const never = async (): Promise<never> => assert.fail('not called')
const pin = (isSetUp: boolean): SecondFactor => ({
  id: 'pin',
  name: 'PIN',
  isSetUp: async () => isSetUp,
  begin: never,
  complete: never,
  enrol: { changes: { added: 'totp_set_up', removed: 'totp_removed' }, begin: never, complete: never, remove: never },
})

describe('B26, B64: whether a second factor is due', () => {
  for (const [policy, role, hasOne, shown, expected] of [
    ['off', 'partner', true, ['code'], false],
    ['optional', 'partner', false, ['code'], false],
    ['optional', 'consultant', true, ['code'], true],
    ['partners', 'consultant', false, ['code'], false],
    ['partners', 'consultant', true, ['code'], true],
    ['partners', 'partner', true, ['code'], true],
    ['partners', 'partner', false, ['code'], true],
    ['required', 'consultant', true, ['code'], true],
    ['required', 'consultant', false, ['code'], true],
    ['required', 'partner', false, ['code', 'device'], false],
  ] as const) {
    const who = `a ${role} ${hasOne ? 'with' : 'without'} one who has passed ${shown.join(' and ')}`
    test(`with the policy "${policy}", for ${who}: ${expected}`, async () => {
      const made = createFactorPolicy({ policy, factors: [pin(hasOne)], hasStored: async () => hasOne })
      assert.equal(await made.isDue({ id, role }, shown), expected)
    })
  }
})
