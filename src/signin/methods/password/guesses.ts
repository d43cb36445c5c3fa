import { Problem } from '../../../platform/problems.ts'
import type { KnownNetworks } from '../../visitor/known-networks.ts'
import { senderNetworkOf } from '../../visitor/network.ts'
import type { Throttle } from '../../throttle/throttle.ts'
import type { Visitor } from '../../visitor/visitor.ts'

/**
 * Limits guessing: per address, known or not, and per sender. The networks in which somebody has signed in with the address are
 * counted apart, so that guesses elsewhere do not make their people wait.
 */
export interface Guesses {
  /** Throws Problem `too_many_sign_ins` if the sender or the address must wait. */
  admit(this: void, emailKey: string, visitor: Visitor): Promise<void>
  /**
   * Counts a guess before it is checked; returns the number of guesses since the last right one. Throws Problem
   * `too_many_sign_ins`.
   */
  count(this: void, emailKey: string, visitor: Visitor): Promise<number>
  /** Counts a wrong guess for its sender. */
  fail(this: void, visitor: Visitor): Promise<void>
  /** Forgets the guesses after a right one, or after the password was reset. */
  forget(this: void, emailKey: string): Promise<void>
  /** Runs the guesses that are counted together one after the other: the wait after one applies to the next. */
  inTurn<T>(this: void, emailKey: string, visitor: Visitor, work: () => Promise<T>): Promise<T>
}

interface GuessNeeds {
  readonly throttle: Throttle
  readonly known: Pick<KnownNetworks, 'has'>
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

/**
 * The maximum number of wrong passwords in succession, together 100 (NIST SP 800-63B-4 section 3.2.2). A reset, or another
 * method, still works.
 */
const elsewhere = { kind: 'password', most: 80 }
const inKnown = { kind: 'password_in_known_networks', most: 20 }
/** Wrong passwords of a sender, over all addresses. Right ones do not count: many people may share a sender. */
const perSender = { kind: 'password_sender', most: 100, window: 15 * 60_000 }
/** The maximum number of waiting senders. Beyond it, the oldest entries are dropped. */
const mostBlocked = 10_000

export function createGuesses({ throttle, known, clock = Date.now }: GuessNeeds): Guesses {
  const last = new Map<string, Promise<unknown>>()
  /** Until when senders wait, as far as this instance has seen. In memory, so that refusing them costs nothing. */
  const blocked = new Map<string, number>()

  const countFor = async (emailKey: string, { address }: Visitor) =>
    (await known.has(emailKey, address)) ? inKnown : elsewhere

  function waitOf(sender: string): number {
    const until = blocked.get(sender) ?? 0
    const wait = Math.ceil((until - clock()) / 1000)
    if (wait <= 0) blocked.delete(sender)
    return Math.max(0, wait)
  }

  return Object.freeze<Guesses>({
    async admit(emailKey, visitor) {
      const wait =
        waitOf(senderNetworkOf(visitor.address)) || (await throttle.wait(await countFor(emailKey, visitor), emailKey))
      if (wait > 0) throw tooMany(wait)
    },
    async count(emailKey, visitor) {
      const counted = await countFor(emailKey, visitor)
      const guesses = await throttle.fail(counted.kind, emailKey)
      if (guesses > counted.most) throw tooMany(await throttle.wait(counted, emailKey))
      return guesses
    },
    async fail({ address }) {
      const sender = senderNetworkOf(address)
      const wait = await throttle.take(perSender, sender)
      if (wait === 0) return
      blocked.set(sender, clock() + wait * 1000)
      const oldest = blocked.keys().next()
      if (blocked.size > mostBlocked && oldest.done !== true) blocked.delete(oldest.value)
    },
    async forget(emailKey) {
      for (const { kind } of [elsewhere, inKnown]) await throttle.succeed(kind, emailKey)
    },
    async inTurn<T>(emailKey: string, visitor: Visitor, work: () => Promise<T>) {
      const wait = waitOf(senderNetworkOf(visitor.address))
      if (wait > 0) throw tooMany(wait)
      const { kind } = await countFor(emailKey, visitor)
      const key = `${kind} ${emailKey}`
      const turn = (last.get(key) ?? Promise.resolve()).then(work)
      const ended = turn.catch(() => undefined)
      last.set(key, ended)
      try {
        return await turn
      } finally {
        if (last.get(key) === ended) last.delete(key)
      }
    },
  })
}

function tooMany(wait: number): Problem {
  const when = wait < 120 ? `in ${wait} s` : `in ${Math.ceil(wait / 60)} minutes`
  return new Problem(
    'too_many_sign_ins',
    `Too many wrong passwords. Try again ${when}, or choose a new password, or sign in another way.`,
    { retryAfter: Math.max(1, wait) },
  )
}
