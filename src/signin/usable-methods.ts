import type { Identities } from '../people/identities.ts'
import type { Person } from '../people/person.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { SignInMethod } from './methods/method.ts'

type Owner = Pick<Person, 'id' | 'email'>

/** The ways in which a person can sign in. */
export interface UsableMethods {
  /** In the order of the configuration. */
  of(this: void, person: Owner, within?: Queryable): Promise<readonly SignInMethod[]>
  /**
   * To be called in the transaction that removes one, with the person's row locked: of two removals at once, the second
   * sees the first. Throws Problem `conflict` if none is left.
   */
  requireOne(this: void, tx: Queryable, person: Owner): Promise<void>
}

interface Needs {
  readonly methods: readonly SignInMethod[]
  readonly identities: Pick<Identities, 'issuersOf'>
  readonly database: Database
}

export function createUsableMethods({ methods, identities, database }: Needs): UsableMethods {
  async function find(tx: Queryable, person: Owner): Promise<readonly SignInMethod[]> {
    const issuers = await identities.issuersOf(person.id, tx)
    const usable: SignInMethod[] = []
    // One after the other: a transaction has one connection.
    for (const method of methods) {
      const isUsable =
        method.kind === 'redirect' ? issuers.includes(method.issuer) : await method.isUsableBy(person, tx)
      if (isUsable) usable.push(method)
    }
    return usable
  }

  return Object.freeze<UsableMethods>({
    of: (person: Owner, within: Queryable = database) => find(within, person),
    async requireOne(tx, person) {
      if ((await find(tx, person)).length > 0) return
      throw new Problem('conflict', 'This is your only way to sign in. Set up another one first.')
    },
  })
}
