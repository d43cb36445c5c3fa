import { Problem } from '../../src/platform/problems.ts'
import type { AdditionalMethods } from '../../src/signin/open.ts'
import type { Claim, CredentialMethod, SecondFactor } from '../../src/signin/methods/method.ts'
import { at } from './json.ts'
import { until } from './until.ts'

/** The right code for every challenge. */
export const rightCode = '4711'

/** A credential method and a second factor, which use the real gate. */
export interface TestCredentials extends AdditionalMethods {
  /** The person that the next correct submission proves. */
  claim: Claim
  /** The assurance of a correct submission. */
  shown: readonly string[]
  /** The people who have set up the second factor. */
  readonly enrolled: Set<string>
  /** Whether people could sign in with the method. */
  isUsable: boolean
  /** The purpose of each completed second factor. */
  readonly completed: string[]
  /** Correct submissions in progress, and what they wait for. */
  checking: number
  release: Promise<void> | undefined
}

export function createTestCredentials(): TestCredentials {
  async function check(): Promise<void> {
    credentials.checking++
    await credentials.release
  }
  const method: CredentialMethod = {
    kind: 'credential',
    id: 'code',
    name: 'Code',
    state: 'ready',
    fault: undefined,
    check: async () => 'ready',
    begin: async (input) => ({ data: { code: rightCode }, challenge: { digits: 4, hint: at(input, 'hint') } }),
    async complete(input, { data }) {
      if (at(input, 'code') !== data['code']) throw wrongCode()
      await check()
      return { claim: credentials.claim, factors: credentials.shown }
    },
    isUsableBy: async () => credentials.isUsable,
  }
  const factor: SecondFactor = {
    id: 'pin',
    name: 'PIN',
    isSetUp: async (personId) => credentials.enrolled.has(personId),
    begin: async (personId) => ({ data: { pin: rightCode, personId }, challenge: { digits: 4 } }),
    async complete(input, { personId, data }) {
      if (at(input, 'pin') !== data['pin'] || data['personId'] !== personId) throw wrongCode()
      await check()
      credentials.completed.push(personId)
    },
  }
  const other: SecondFactor = { ...factor, id: 'other', name: 'Never set up', isSetUp: async () => false }
  const credentials: TestCredentials = {
    methods: [method],
    factors: [factor, other],
    claim: { by: 'person', personId: '01990000-0000-7000-8000-000000000000' },
    shown: ['code'],
    enrolled: new Set(),
    isUsable: true,
    completed: [],
    checking: 0,
    release: undefined,
  }
  return credentials
}

function wrongCode(): Problem {
  return new Problem('sign_in_failed', 'The code is wrong.')
}

/** Sends five correct submissions that all pass the check before any of them continues. */
export async function together<Result>(credentials: TestCredentials, submit: () => Promise<Result>): Promise<Result[]> {
  const { promise, resolve } = Promise.withResolvers<void>()
  Object.assign(credentials, { checking: 0, release: promise })
  const pages = Array.from({ length: 5 }, submit)
  await until(() => credentials.checking === 5)
  credentials.release = undefined
  resolve()
  return Promise.all(pages)
}
