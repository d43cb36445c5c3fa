import { Problem } from '../../../platform/problems.ts'
import { senderNetworkOf } from '../../network.ts'
import type { Throttle } from '../../throttle.ts'
import type { Visitor } from '../../visitor.ts'

/** Limits guessing: per address, known or not, and per sender. */
export interface Guesses {
  /** Throws Problem `too_many_sign_ins` if the sender or the address must wait. */
  admit(this: void, emailKey: string, visitor: Visitor): Promise<void>
  /**
   * Counts a guess before it is checked; returns the number of guesses since the last right one. Throws Problem
   * `too_many_sign_ins`.
   */
  count(this: void, emailKey: string): Promise<number>
  /** Counts a wrong guess for its sender. */
  fail(this: void, visitor: Visitor): Promise<void>
  /** Forgets the guesses after a right one, or after the password was reset. */
  forget(this: void, emailKey: string): Promise<void>
  /** Runs the guesses for an address one after the other: the wait after one applies to the next. */
  inTurn<T>(this: void, emailKey: string, work: () => Promise<T>): Promise<T>
}

interface GuessNeeds {
  readonly throttle: Throttle
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const kind = 'password'
/**
 * The maximum number of wrong passwords in succession (NIST SP 800-63B-4 section 3.2.2). A reset, or another method,
 * still works.
 */
const mostGuesses = 100
/** Wrong passwords of a sender, over all addresses. Right ones do not count: many people may share a sender. */
const perSender = { kind: 'password_sender', most: 100, window: 15 * 60_000 }
/** The maximum number of waiting senders. Beyond it, the oldest entries are dropped. */
const mostBlocked = 10_000

export function createGuesses({ throttle, clock = Date.now }: GuessNeeds): Guesses {
  const last = new Map<string, Promise<unknown>>()
  /** Until when senders wait, as far as this instance has seen. In memory, so that refusing them costs nothing. */
  const blocked = new Map<string, number>()

  function waitOf(sender: string): number {
    const until = blocked.get(sender) ?? 0
    const wait = Math.ceil((until - clock()) / 1000)
    if (wait <= 0) blocked.delete(sender)
    return Math.max(0, wait)
  }

  return Object.freeze({
    async admit(emailKey: string, { address }: Visitor) {
      const wait = waitOf(senderNetworkOf(address)) || (await throttle.wait(kind, emailKey))
      if (wait > 0) throw tooMany(wait)
    },
    async count(emailKey: string) {
      const guesses = await throttle.fail(kind, emailKey)
      if (guesses > mostGuesses) throw tooMany(await throttle.wait(kind, emailKey))
      return guesses
    },
    async fail({ address }: Visitor) {
      const sender = senderNetworkOf(address)
      const wait = await throttle.take(perSender, sender)
      if (wait === 0) return
      blocked.set(sender, clock() + wait * 1000)
      const oldest = blocked.keys().next()
      if (blocked.size > mostBlocked && oldest.done !== true) blocked.delete(oldest.value)
    },
    forget: (emailKey: string) => throttle.succeed(kind, emailKey),
    async inTurn<T>(emailKey: string, work: () => Promise<T>) {
      const turn = (last.get(emailKey) ?? Promise.resolve()).then(work)
      const ended = turn.catch(() => undefined)
      last.set(emailKey, ended)
      try {
        return await turn
      } finally {
        if (last.get(emailKey) === ended) last.delete(emailKey)
      }
    },
  } satisfies Guesses)
}

function tooMany(wait: number): Problem {
  const when = wait < 120 ? `in ${wait} s` : `in ${Math.ceil(wait / 60)} minutes`
  return new Problem(
    'too_many_sign_ins',
    `Too many wrong passwords. Try again ${when}, or choose a new password, or sign in another way.`,
    { retryAfter: Math.max(1, wait) },
  )
}
