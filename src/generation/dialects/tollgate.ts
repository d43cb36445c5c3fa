import { promptTokensOf } from '../../billing/till/till.ts'
import type { Prompt } from '../../models/model.ts'
import { compileBody } from '../../platform/http/input/validation.ts'
import type { Reply } from '../generation.ts'
import { generateRequest, synonyms, type GenerateRequest } from '../schema.ts'
import { tagsOf } from '../request.ts'
import { event, jsonAround, type Dialect, type DialectRequest } from './dialect.ts'

/** The API of the specification: sections 2.1, 2.2 and 7. */
const check = compileBody(generateRequest, synonyms)

export const tollgate: Dialect = Object.freeze({
  api: 'tollgate',
  read: (body: unknown): DialectRequest => requestOf(check(body)),
  errorBody: (refusal: object) => ({ error: refusal }),
})

function requestOf(body: GenerateRequest): DialectRequest {
  return {
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt: promptOf(body),
      maxOutputTokens: body.max_output_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      seed: body.seed,
      stop: body.stop,
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens: 'max_output_tokens', input: 'input' },
    },
    wholeBody: (reply) => reply.body,
    eventWriter: () => ({
      opening: [],
      text: (delta) => event('output_text.delta', deltaOf(delta)),
      deltas: () => [],
      closing: (reply) => [event('done', reply.body)],
      failure: (refusal, _, part) => event('error', { error: refusal, ...(part && chargedPart(part)) }),
    }),
  }
}

/** The tokens and the cost that were charged for a stream that broke off. */
const chargedPart = ({ usage, cost }: Reply) => ({
  usage: { input_tokens: promptTokensOf(usage), output_tokens: usage.outputTokens },
  cost,
})

const deltaOf = jsonAround((delta) => ({ delta }))

function promptOf({ instructions, input }: GenerateRequest): Prompt {
  const user = { role: 'user', text: input } as const
  return { messages: instructions ? [{ role: 'system', text: instructions }, user] : [user] }
}
