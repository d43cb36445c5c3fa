import type { KnownNetworks } from '../visitor/known-networks.ts'
import { senderNetworkOf } from '../visitor/network.ts'
import type { Throttle } from './throttle.ts'
import type { Visitor } from '../visitor/visitor.ts'

/** How many messages of one kind anyone can have sent, to an address, a number or a person. */
export interface SendLimits {
  take(this: void, request: SendRequest): Promise<Taken>
}

interface Taken {
  /** 0 or, if the limit was reached, the seconds until it is not. */
  readonly wait: number
  /** The limit that was reached, or the last one. */
  readonly most: number
  readonly isKnown: boolean
}

interface SendRequest {
  /** The address, the number or the person. */
  readonly to: string
  /** The person or the address whose networks are known; default `to`. */
  readonly owner?: string
  readonly visitor: Pick<Visitor, 'address'>
}

interface Needs {
  readonly throttle: Pick<Throttle, 'take'>
  readonly known: KnownNetworks
}

const [quarter, hour] = [15 * 60_000, 60 * 60_000]

/** A stranger elsewhere uses up only the limit of all unknown networks: known networks have each their own. */
export function createSendLimits({ throttle, known }: Needs, kind: string): SendLimits {
  const byNetwork = { kind: `${kind}_network`, most: 10, window: hour }
  const toOneByNetwork = { kind: `${kind}_to_one_by_network`, most: 3, window: quarter }
  const toOne = { kind: `${kind}_to_one`, most: 10, window: hour }
  return Object.freeze({
    async take({ to, owner = to, visitor: { address } }: SendRequest) {
      const network = senderNetworkOf(address)
      const isKnown = await known.has(owner, address)
      const rules = [
        { rule: byNetwork, key: network },
        { rule: toOneByNetwork, key: `${to} ${network}` },
        ...(isKnown ? [] : [{ rule: toOne, key: to }]),
      ]
      let taken = { wait: 0, most: 0, isKnown }
      for (const { rule, key } of rules) {
        taken = { wait: await throttle.take(rule, key), most: rule.most, isKnown }
        if (taken.wait > 0) break
      }
      return taken
    },
  } satisfies SendLimits)
}
