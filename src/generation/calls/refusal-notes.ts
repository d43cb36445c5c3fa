import type { FastifyRequest } from 'fastify'
import { Problem, problems, type ProblemCode } from '../../platform/problems.ts'
import type { ApiRefusal, RefusedCall } from '../../usage/requests/refusals.ts'
import { wireFormatOf } from './caller.ts'
import type { Generation } from '../generation.ts'

/** Passes on that a request was refused or failed, with its error, and adds why to its log line. Does nothing before its caller is known. */
export type NoteRefusal = (request: FastifyRequest, code: ProblemCode, error: Error) => void

export function refusalNotes(
  generation: Pick<Generation, 'model'>,
  onRefused: ((refusal: ApiRefusal) => void) | undefined,
): NoteRefusal {
  return (request, code, error) => {
    const { caller, id: requestId, startedAt } = request
    if (caller === undefined || onRefused === undefined) return
    const { accountId, keyId } = caller
    const milliseconds = Math.round(performance.now() - startedAt)
    const model = knownModel(generation, request.body)
    const call = callOf(request, error)
    // The line has the route already.
    const { route: _, ...notes } = call
    Object.assign(request.notes, notes)
    onRefused({ requestId, accountId, keyId, model, code, status: problems[code].status, milliseconds, call })
  }
}

/** A name as in a schema, with the places in its lists. What a caller made up, as a name in its metadata, may be text of a customer. */
const plainField = /^[A-Za-z][\w-]{0,63}(?:\.[A-Za-z][\w-]{0,63}|\[\d{1,9}\]){0,12}$/

function callOf(request: FastifyRequest, error: Error): RefusedCall {
  const { field } = error instanceof Problem ? error.details : {}
  const isPlain = field === undefined || (plainField.test(field) && !/^metadata\.(?!client_id$|user_id$)/.test(field))
  const { body, headers, routeOptions } = request
  return {
    field: isPlain ? (field ?? null) : null,
    reason: isPlain && error instanceof Problem ? error.message.slice(0, 500) : null,
    route: (routeOptions.url ?? '').replace(/^\/try(?=\/)/, ''),
    dialect: wireFormatOf(request)?.api ?? 'tollgate',
    user_agent: headers['user-agent']?.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200) ?? null,
    streamed: typeof body === 'object' && body !== null && 'stream' in body && body.stream === true,
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
