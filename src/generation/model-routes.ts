import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../accounts/keys.ts'
import type { Till } from '../billing/till.ts'
import type { Server } from '../platform/http/http.ts'
import { headersOf } from './answers.ts'
import { callerOf, mannerOf } from './caller.ts'
import { openAiManner } from './dialects/openai-errors.ts'
import type { Generation } from './generation.ts'
import { listModels, retrieveModel } from './operations.ts'

interface ModelRoutesNeeds {
  readonly generation: Generation
  readonly till: Till
}

/** What the clients of OpenAI's and of Anthropic's API ask of the models; both at the same addresses. */
export function registerModels(server: Server, { generation, till }: ModelRoutesNeeds): void {
  /** Who asks. The answer tells him how his limits stand; it takes nothing of them. */
  const asking = async (request: FastifyRequest, reply: FastifyReply): Promise<Caller> => {
    const caller = callerOf(request)
    const levels = await till.levels(caller.accountId)
    if (levels) reply.headers(headersOf(mannerOf(request), levels))
    return caller
  }

  server.get('/models', { schema: listModels, config: { forAnthropic: true } }, async (request, reply) => {
    const data = generation.models(await asking(request, reply))
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
    return { object: 'list', data, has_more: false, first_id, last_id } as const
  })

  const config = { manner: openAiManner, forAnthropic: true }
  server.get('/models/:id', { schema: retrieveModel, config }, async (request, reply) =>
    generation.model(await asking(request, reply), request.params.id),
  )
  // Some clients leave the slash of an id as it is.
  server.get<{ Params: { '*': string } }>('/models/*', { schema: { hide: true }, config }, async (request, reply) =>
    generation.model(await asking(request, reply), request.params['*']),
  )
}
