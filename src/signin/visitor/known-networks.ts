import type { Database, Queryable } from '../../platform/database/database.ts'
import { hashOf } from '../session/cookies.ts'
import * as store from './store.ts'
import { senderNetworkOf } from './network.ts'

/**
 * The networks in which people have signed in. Requests of strangers elsewhere do not use up what people may do in them.
 * Only hashes are stored.
 */
export interface KnownNetworks {
  /** For 180 days, in the transaction of the sign-in. */
  remember(this: void, tx: Queryable, personId: string, address: string): Promise<void>
  /** The owner is the id of a person or a normalised address. */
  has(this: void, owner: string, address: string): Promise<boolean>
}

interface Needs {
  readonly database: Database
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const memory = 180 * 86_400_000

const hash = (owner: string, address: string) => hashOf(`${owner} ${senderNetworkOf(address)}`)

export function createKnownNetworks({ database, clock = Date.now }: Needs): KnownNetworks {
  return Object.freeze<KnownNetworks>({
    async remember(tx, personId, address) {
      const emailKey = await store.readEmailKey(tx, personId)
      const owners = emailKey === undefined ? [personId] : [personId, emailKey]
      const expiresAt = new Date(clock() + memory)
      const hashes = owners.map((owner) => hash(owner, address))
      await store.writeNetworks(tx, hashes, expiresAt)
    },
    has: (owner, address) => store.isKnown(database, hash(owner, address), new Date(clock())),
  })
}
