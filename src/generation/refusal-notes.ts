import type { FastifyRequest } from 'fastify'
import { Problem, problems, type ProblemCode } from '../platform/problems.ts'
import type { ApiRefusal } from '../usage/refusals.ts'
import type { Generation } from './generation.ts'

/** Passes on that a request was refused or failed. Does nothing before its caller is known. */
export type NoteRefusal = (request: FastifyRequest, code: ProblemCode) => void

export function refusalNotes(
  generation: Pick<Generation, 'model'>,
  onRefused: ((refusal: ApiRefusal) => void) | undefined,
): NoteRefusal {
  return (request, code) => {
    const { caller, id: requestId, startedAt } = request
    if (caller === undefined || onRefused === undefined) return
    const { accountId, keyId } = caller
    const milliseconds = Math.round(performance.now() - startedAt)
    const model = knownModel(generation, request.body)
    onRefused({ requestId, accountId, keyId, model, code, status: problems[code].status, milliseconds })
  }
}

/** The id of the model that a body names. What is no model is text of the caller, and is not kept. */
function knownModel(generation: Pick<Generation, 'model'>, body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('model' in body) || typeof body.model !== 'string')
    return undefined
  try {
    return generation.model(body.model, null).id
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}
