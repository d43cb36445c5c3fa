import { idempotencyKeyOf } from '../../../access/new-id.ts'
import { visitOf } from '../../../access/visits.ts'
import { recordId } from '../../../platform/database/uuid.ts'
import { represent } from '../../../platform/http/pages/representation.ts'
import type { Server } from '../../../platform/http/server.ts'
import { basisOf } from '../../../platform/http/versions.ts'
import { listLetterMails, proposeLetterMail, readMailedLetter, sendLetter } from '../../operations.ts'
import type { LetterMails } from './mails.ts'

const one = '/clients/:client/letters/:item'

/** Registers the mails with letters. */
export function registerLetterMails(portal: Server, mails: LetterMails): void {
  portal.get(`${one}/mail`, { schema: proposeLetterMail }, async (request, reply) => {
    const { client, item } = request.params
    const data = await mails.propose(visitOf(request), recordId(client), recordId(item))
    return represent(reply, request, { data })
  })

  portal.get(`${one}/mails`, { schema: listLetterMails }, async (request, reply) => {
    const { client, item } = request.params
    return represent(reply, request, { data: await mails.list(visitOf(request), recordId(client), recordId(item)) })
  })

  portal.get(`${one}/mails/:mail/pdf`, { schema: readMailedLetter }, async (request, reply) => {
    const { client, item, mail } = request.params
    const of = { letterId: recordId(item), mailId: recordId(mail) }
    const file = await mails.file(visitOf(request), recordId(client), of)
    return reply.headers(file.headers).send(Buffer.from(file.bytes))
  })

  portal.post(`${one}/send`, { schema: sendLetter }, async (request, reply) => {
    const { client, item } = request.params
    const mail = { basis: basisOf(request.headers['if-match']), body: request.body }
    const sent = await mails.send(visitOf(request), recordId(client), recordId(item), mail, idempotencyKeyOf(request))
    reply.code(201)
    return sent
  })
}
