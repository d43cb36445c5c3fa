import type { RecordAccess } from '../../access/access.ts'
import type { Audit } from '../../access/audit/audit.ts'
import { idempotencyKeyOf, newId } from '../../access/new-id.ts'
import { permitted, permittedOnAccount } from '../../access/permitted.ts'
import { may } from '../../access/policy.ts'
import { visitOf } from '../../access/visits.ts'
import type { Database } from '../../platform/database/database.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import type { Accounts } from '../accounts.ts'
import { changeEvent } from '../events.ts'
import { checkModels, expiryIn, keyLimitsIn } from '../fields.ts'
import { grantedAccounts } from '../granted.ts'
import type { IssuedKey, Keys } from './keys.ts'
import * as operations from '../operations.ts'
import { presentKey } from '../present.ts'
import type { KeyIssued, KeyList } from '../schema.ts'

/** The id of a model, or an alias and the id of its model. */
export type ModelName = KeyList['models'][number]

interface KeyRouteNeeds {
  readonly accounts: Pick<Accounts, 'show'>
  readonly keys: Keys
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly access: Pick<RecordAccess, 'as'>
  readonly database: Database
  readonly baseUrl: string
  readonly modelNames: () => readonly ModelName[]
}

const day = 86_400

/** The keys of an account, for partners. Developers see the keys of the accounts that they were granted. */
export function registerKeys(server: Server, needs: KeyRouteNeeds): void {
  const { accounts, keys, audit, baseUrl, modelNames } = needs
  const granted = grantedAccounts(needs)

  server.get(
    '/accounts/:account/keys',
    { onRequest: permittedOnAccount(needs, 'list', 'key'), schema: operations.listKeys },
    async (request, reply) => {
      const [visit, { account: asked }] = [visitOf(request), request.params]
      const isGranted = !may(visit.actor, 'list', 'key')
      const { id } = await (isGranted ? granted.show(visit, asked) : accounts.show(asked))
      const [all] = await Promise.all([
        isGranted ? granted.keys(visit, id) : keys.list(id),
        audit.record(changeEvent(visit, 'account_keys_listed', id)),
      ])
      const data = { keys: all.map(presentKey), models: [...modelNames()], base_url: baseUrl }
      return represent(reply, request, { data })
    },
  )

  server.post(
    '/accounts/:account/keys',
    { onRequest: permitted(needs, 'create', 'key'), schema: operations.createKey },
    async (request, reply) => {
      const visit = visitOf(request)
      const { id: accountId } = await accounts.show(request.params.account)
      const { name, allowed_models: allowedModels = null, expires_at: expiry, ...limits } = request.body
      checkModels(
        allowedModels,
        modelNames().map((model) => model.name),
      )
      const id = newId(visit, `/accounts/${accountId}/keys`, idempotencyKeyOf(request))
      const expiresAt = expiryIn(expiry)
      const asked = { id, accountId, name, allowedModels, expiresAt, limits: keyLimitsIn(limits) }
      const issued = await keys.create(asked, visit)
      return reply.code(201).send(await shownOnce(keys, issued))
    },
  )

  server.post(
    '/keys/:key/rotate',
    { onRequest: permitted(needs, 'change', 'key'), schema: operations.rotateKey },
    async (request, reply) => {
      const { overlap_seconds: seconds = day } = request.body
      const issued = await keys.rotate(request.params.key, { overlapMs: seconds * 1000 }, visitOf(request))
      return reply.code(201).send(await shownOnce(keys, issued))
    },
  )

  server.patch(
    '/keys/:key',
    { onRequest: permitted(needs, 'change', 'key'), schema: operations.limitKey },
    async (request) =>
      presentKey(await keys.setLimits(request.params.key, keyLimitsIn(request.body), visitOf(request))),
  )

  server.post(
    '/keys/:key/revoke',
    { onRequest: permitted(needs, 'remove', 'key'), schema: operations.revokeKey },
    async (request, reply) => {
      await keys.revoke(request.params.key, visitOf(request))
      return reply.code(204).send()
    },
  )
}

async function shownOnce(keys: Keys, { id, key }: IssuedKey): Promise<KeyIssued> {
  return { ...presentKey(await keys.show(id)), key }
}
