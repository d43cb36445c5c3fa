import { isUuid } from '../../platform/database/uuid.ts'
import { Problem } from '../../platform/problems.ts'
import type { Identity } from '../../people/person.ts'
import { changeOwn, type OwnChange, type OwnNeeds } from './own.ts'

/** The identities at providers of the person who is signed in. */
export interface OwnIdentities {
  /** Nothing changes if the identity is theirs. Throws Problem `conflict` if it is another person's. */
  link(change: OwnChange, identity: Identity): Promise<void>
  /** Returns how many other sessions ended. Throws Problem `not_found`, and `conflict` for the last way to sign in. */
  unlink(change: OwnChange, id: string): Promise<number>
}

export function createOwnIdentities(needs: OwnNeeds): OwnIdentities {
  const { identities, usable } = needs
  return {
    async link(change, identity) {
      const owner = await identities.byIdentity(identity)
      if (owner?.id === change.session.person.id) return
      await changeOwn(needs, change, async (tx, person) => {
        if (!(await identities.link(tx, person.id, identity))) throw taken()
        const { issuer } = identity
        return { action: 'identity_added', details: { issuer }, notice: { what: 'sign_in_method_linked' } }
      })
    },
    unlink: (change, id) =>
      changeOwn(needs, change, async (tx, person) => {
        const issuer = isUuid(id) ? await identities.unlink(tx, person.id, id) : undefined
        if (issuer === undefined) throw new Problem('not_found', 'You have no such identity. GET /me lists yours.')
        await usable.requireOne(tx, person)
        return { action: 'identity_removed', details: { issuer }, notice: { what: 'sign_in_method_removed' } }
      }),
  }
}

function taken(): Problem {
  return new Problem('conflict', 'This account at the provider belongs to another person here.')
}
