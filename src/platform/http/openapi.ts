import swagger from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import { Type, type TObject, type TSchema } from 'typebox'
import type { Server } from './http.ts'
import { problems, type ProblemCode } from '../problems.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Request headers for the document alone: what checks them is the handler. */
    documentedHeaders?: TObject
  }
}

/** What a route says of itself: its body is checked, the rest is for the document. */
export interface Operation<Body extends TSchema = TSchema> extends FastifySchema {
  readonly body: Body
}

/** The name of the security scheme of Area A. */
const apiKey = 'apiKey'

/** What an operation that asks for a key has in common with the others. */
export const needsKey = { security: [{ [apiKey]: [] }] }

/** The name of the security scheme of the portal. */
const session = 'session'

/** The same for what asks for somebody who is signed in. */
export const needsSession = { security: [{ [session]: [] }] }

const header = (description: string, example: string): TSchema => ({ type: 'string', description, examples: [example] })

const everyAnswer = {
  'request-id': header(
    'The id of this request. Quote it when you report a fault.',
    '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
  ),
}

const everyRefusal = {
  ...everyAnswer,
  'x-should-retry': header('Whether the same request may succeed later.', 'true'),
  'retry-after': header('Seconds after which to send it again; not on every refusal.', '1'),
}

/** The headers that say how the limits of the account stand. */
export const limitHeaders: Readonly<Record<string, TSchema>> = Object.fromEntries(
  (['requests', 'tokens'] as const).flatMap((what) => [
    [`x-ratelimit-limit-${what}`, header(`What the account may use: ${what} per minute.`, '60')],
    [`x-ratelimit-remaining-${what}`, header(`What is left of it now, in ${what}.`, '59')],
    [`x-ratelimit-reset-${what}`, header('Seconds until the whole limit is there again.', '1')],
  ]),
)

/** A successful answer, for the document. */
export function answers(
  schema: TSchema,
  description: string,
  headers: Readonly<Record<string, TSchema>> = {},
): TSchema {
  return { ...schema, description, headers: { ...everyAnswer, ...headers } }
}

/** The refusals with these codes, by status, for the document. */
export function refusals(codes: readonly ProblemCode[]): Record<number, TSchema> {
  const byStatus = Map.groupBy(codes, (code) => problems[code].status)
  return Object.fromEntries([...byStatus].map(([status, same]) => [status, refusal(same)]))
}

function refusal(codes: readonly ProblemCode[]): TSchema {
  const description = codes.map((code) => `\`${code}\`: ${problems[code].meaning}`).join('\n\n')
  return { ...errorBody([...codes]), description, headers: everyRefusal }
}

function errorBody(codes: ProblemCode[]): TObject {
  const limit = Type.Object(
    { name: Type.String(), value: Type.Integer(), remaining: Type.Integer() },
    { description: 'Which limit was met, what it is and what is left of it.' },
  )
  return Type.Object({
    error: Type.Object({
      code: Type.Enum(codes),
      reason: Type.String({ description: 'A sentence for a person: what is wrong and what to do.' }),
      field: Type.Optional(Type.String({ description: 'The field at fault.' })),
      limit: Type.Optional(limit),
      request_id: Type.String({ format: 'uuid' }),
      docs: Type.String({ format: 'uri', description: 'Where this code is explained.' }),
    }),
  })
}

/** Collects what the routes registered after it say of themselves, and serves it as OpenAPI 3.1 at /openapi.json. */
export async function registerOpenApi(server: Server, { baseUrl }: { baseUrl: string }): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version: '1',
        description:
          'A metered text-generation API. Within /v1 things are only added; a removal is announced at least six months ' +
          'ahead with Deprecation and Sunset headers, and needs /v2.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      externalDocs: { url: `${baseUrl}/docs/errors`, description: 'Every error code' },
      components: {
        securitySchemes: {
          [apiKey]: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key, from your server only: calls from a browser are refused.',
          },
          [session]: {
            type: 'apiKey',
            in: 'cookie',
            name: 'session',
            description: 'Set by signing in. Changes are taken from pages of the same origin only.',
          },
        },
      },
    },
    transform: ({ schema, url }) => ({ url, schema: withHeaders(schema) }),
  })
  server.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    reply.type('application/json; charset=utf-8')
    return server.swagger()
  })
}

function withHeaders(schema: FastifySchema | undefined): FastifySchema {
  if (schema === undefined) return { hide: true }
  const { documentedHeaders, ...rest } = schema
  return documentedHeaders === undefined ? rest : { ...rest, headers: documentedHeaders }
}
