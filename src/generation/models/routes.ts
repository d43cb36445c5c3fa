import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Till } from '../../billing/till/till.ts'
import type { Server } from '../../platform/http/server.ts'
import { callerOf, wireFormatOf } from '../calls/caller.ts'
import { headersOf } from '../delivery.ts'
import { openAiFormat } from '../dialects/openai.ts'
import type { Generation } from '../generation.ts'
import { listModels, retrieveModel } from '../operations.ts'
import type { Job } from '../request.ts'

interface ModelRoutesNeeds {
  readonly generation: Generation
  readonly till: Till
}

/** Registers the model list, which the clients of OpenAI's and of Anthropic's API read at the same URLs. */
export function registerModels(server: Server, { generation, till }: ModelRoutesNeeds): void {
  /** Sets the headers with the caller's levels, which a model list leaves unchanged. */
  const allowedModels = async (request: FastifyRequest, reply: FastifyReply): Promise<Job['allowedModels']> => {
    const caller = callerOf(request)
    const levels = await till.levels(caller)
    if (levels) reply.headers(headersOf(wireFormatOf(request), levels))
    return caller.allowedModels
  }

  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    const data = generation.models(await allowedModels(request, reply))
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
    return { object: 'list', data, has_more: false, first_id, last_id } as const
  }
  server.get('/models', { schema: listModels, config: { forAnthropic: true } }, list)

  const config = { wireFormat: openAiFormat, forAnthropic: true }
  /** Some clients end the URL of the list with a slash. */
  const show = async (request: FastifyRequest, reply: FastifyReply, id: string) =>
    id === '' ? list(request, reply) : generation.model(id, await allowedModels(request, reply))
  server.get('/models/:id', { schema: retrieveModel, config }, (request, reply) =>
    show(request, reply, request.params.id),
  )
  // Some do not encode the slash of an id.
  server.get<{ Params: { '*': string } }>('/models/*', { schema: { hide: true }, config }, (request, reply) =>
    show(request, reply, request.params['*']),
  )
}
