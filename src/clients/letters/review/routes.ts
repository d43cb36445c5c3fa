import { idempotencyKeyOf } from '../../../access/new-id.ts'
import { visitOf } from '../../../access/visits.ts'
import { recordId } from '../../../platform/database/uuid.ts'
import { represent } from '../../../platform/http/pages/representation.ts'
import type { Server } from '../../../platform/http/server.ts'
import { basisOf } from '../../../platform/http/versions.ts'
import { askLetterReview, listLetterReviews, returnLetter, withdrawLetterReview } from '../../operations.ts'
import type { LetterReviews, ReviewOfLetter } from './reviews.ts'

const all = '/clients/:client/letters/:item/reviews'
const one = `${all}/:review`

/** Registers the reviews of letters. */
export function registerLetterReviews(portal: Server, reviews: LetterReviews): void {
  portal.get(all, { schema: listLetterReviews }, async (request, reply) => {
    const { client, item } = request.params
    return represent(reply, request, { data: await reviews.list(visitOf(request), recordId(client), recordId(item)) })
  })

  portal.post(all, { schema: askLetterReview }, async (request, reply) => {
    const { client, item } = request.params
    const asked = { basis: basisOf(request.headers['if-match']), body: request.body }
    const key = idempotencyKeyOf(request)
    const list = await reviews.ask(visitOf(request), recordId(client), recordId(item), asked, key)
    reply.code(201)
    return list
  })

  portal.post(`${one}/return`, { schema: returnLetter }, async (request) => {
    const returned = { basis: basisOf(request.headers['if-match']), reason: request.body.reason }
    return reviews.return(visitOf(request), reviewIn(request.params), returned)
  })

  portal.delete(one, { schema: withdrawLetterReview }, async (request, reply) => {
    await reviews.withdraw(visitOf(request), reviewIn(request.params))
    return reply.code(204).send()
  })
}

function reviewIn(params: { readonly client: string; readonly item: string; readonly review: string }): ReviewOfLetter {
  return {
    clientId: recordId(params.client),
    letterId: recordId(params.item),
    reviewId: recordId(params.review),
  }
}
