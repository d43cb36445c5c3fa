import { availableParallelism } from 'node:os'
import { Problem } from '../../../platform/problems.ts'
import { createTurnstile } from '../../../platform/flow/turnstile.ts'
import { dummyHash, hashPassword, isOutdated, verifyHash, type HashSettings } from './argon2.ts'

/** The operations that wait for a turn. */
export interface HashingTurn {
  hash(this: void, password: string): Promise<string>
  /** Verifies against a dummy, for the same cost, if there is no hash. */
  verify(this: void, password: string, phc: string | undefined): Promise<boolean>
  /** Whether a verified password should be hashed again. */
  isOutdated(this: void, phc: string): boolean
}

/** Hashes and verifies passwords, a few at a time. */
export interface Hashing {
  /** Throws Problem `overloaded` if too many others are waiting for their turn. */
  inTurn<T>(this: void, work: (turn: HashingTurn) => Promise<T>): Promise<T>
}

interface HashingNeeds {
  readonly settings: HashSettings
  /** Turns at the same time. */
  readonly atOnce?: number
  readonly mostWaiting?: number
}

/** At most half of the processors, and at most two: each takes a thread and the memory of a hash. */
const defaults = { atOnce: Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2))), mostWaiting: 200 }
/** Seconds. With the default settings, a full queue takes about that long. */
const retryAfter = 5

export function createHashing({ settings, ...bounds }: HashingNeeds): Hashing {
  const { atOnce, mostWaiting } = { ...defaults, ...bounds }
  const dummy = dummyHash(settings)
  const turn: HashingTurn = Object.freeze({
    hash: (password: string) => hashPassword(password, settings),
    verify: async (password: string, phc: string | undefined) =>
      (await verifyHash(password, phc ?? dummy, settings)) && phc !== undefined,
    isOutdated: (phc: string) => isOutdated(phc, settings),
  })
  const turnstile = createTurnstile(atOnce)

  return Object.freeze({
    async inTurn<T>(work: (turn: HashingTurn) => Promise<T>) {
      if (turnstile.waiting() >= mostWaiting) throw overloaded()
      return turnstile.run(() => work(turn))
    },
  } satisfies Hashing)
}

function overloaded(): Problem {
  return new Problem('overloaded', 'Too many passwords are being checked. Try again in a few seconds.', { retryAfter })
}
