import type { FastifyRequest } from 'fastify'
import { permitted } from '../../../access/permitted.ts'
import type { Action } from '../../../access/policy.ts'
import { visitOf } from '../../../access/visits.ts'
import { isUuid } from '../../../platform/database/uuid.ts'
import type { Server } from '../../../platform/http/server.ts'
import { Problem } from '../../../platform/problems.ts'
import { checkName } from '../../../platform/text/one-line.ts'
import { sessionOf } from '../../guard.ts'
import { removePasskey, renamePasskey } from '../../me/operations.ts'
import { changeOwn, settleRemoval, type OwnChange } from '../../me/own.ts'
import type { MethodNeeds } from '../definition.ts'
import * as store from './store.ts'

type ById = { Params: { id: string } }

/** /me/passkeys: the passkeys of the person who is signed in. GET /me lists them. */
export function registerPasskeys(server: Server, needs: MethodNeeds): void {
  const baseUrl = needs.config.base_url
  const own = (action: Action) => ({ onRequest: permitted({ ...needs, baseUrl }, action, 'own_sign_in') })

  server.patch<ById & { Body: { name: string } }>(
    '/me/passkeys/:id',
    { ...own('change'), schema: renamePasskey },
    async (request) => {
      const { id } = request.params
      return { id, name: await rename(needs, changeBy(request), { id, name: request.body.name }) }
    },
  )

  server.delete<ById>('/me/passkeys/:id', { ...own('remove'), schema: removePasskey }, async (request) => ({
    ended: await remove(needs, changeBy(request), request.params.id),
  }))
}

const changeBy = (request: FastifyRequest): OwnChange => ({ session: sessionOf(request), by: visitOf(request) })

/** Returns the name. */
function rename(
  { database, audit }: MethodNeeds,
  { session, by }: OwnChange,
  { id, name: text }: { readonly id: string; readonly name: string },
): Promise<string> {
  return database.transaction(async (tx) => {
    const name = checkName(text)
    const isKnown = isUuid(id) && (await store.renamePasskey(tx, { id, personId: session.person.id }, name))
    if (!isKnown) throw unknownPasskey()
    const about = { outcome: 'allowed', noun: 'passkey', nounId: id } as const
    await audit.recordWithin(tx, [{ ...by, action: 'passkey_renamed', ...about }])
    return name
  })
}

/** Returns how many other sessions ended. Throws Problem `conflict` for the last way to sign in. */
function remove(needs: MethodNeeds, change: OwnChange, id: string): Promise<number> {
  const { usable, factorPolicy: policy, recoveryCodes } = needs
  return changeOwn(needs, change, async (tx, person) => {
    const count = isUuid(id) ? await store.deletePasskeys(tx, { id, personId: person.id }) : 0
    if (count === 0) throw unknownPasskey()
    await usable.requireOne(tx, person)
    await settleRemoval({ policy, recoveryCodes }, tx, person)
    return { action: 'passkey_removed', details: { passkey: id }, notice: { what: 'passkey_removed' } }
  })
}

function unknownPasskey(): Problem {
  return new Problem('not_found', 'You have no such passkey. GET /me lists yours.')
}
