import swagger from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import { Type, type TObject, type TSchema } from 'typebox'
import { completeDocument, type ExampleValues } from './examples.ts'
import type { Server } from './server.ts'
import { problems, type ProblemCode } from '../problems.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Request headers, for the OpenAPI document only: the handler checks them. */
    documentedHeaders?: TObject
    /** What the bytes of the body are, of a route that accepts any. */
    documentedBytes?: string
  }
}

/** The description of a route: its body is checked, the rest is for the OpenAPI document. */
export interface Operation<Body extends TSchema = TSchema> extends FastifySchema {
  readonly body: Body
}

/** The name of the security scheme of Area A. */
const apiKey = 'apiKey'

/** For operations that require an API key. */
export const needsKey = { security: [{ [apiKey]: [] }] }

/** The name of the security scheme of the portal. */
const session = 'session'

/** For operations that require a signed-in person. */
export const needsSession = { security: [{ [session]: [] }] }

const header = (description: string, example: string): TSchema => ({ type: 'string', description, examples: [example] })

const everyAnswer = {
  'request-id': header('The id of this request. Quote it to support.', '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'),
}

const everyRefusal = {
  ...everyAnswer,
  'x-should-retry': header('Whether the same request may succeed later.', 'true'),
  'retry-after': header('Seconds to wait before a retry. Not on every error.', '1'),
}

const remaining = { requests: 'Requests remaining.', tokens: 'Tokens remaining.' }

/** The headers with the limits of the account. */
export const rateLimitHeaders: Readonly<Record<string, TSchema>> = Object.fromEntries(
  (['requests', 'tokens'] as const).flatMap((what) => [
    [`x-ratelimit-limit-${what}`, header(`Limit of the account, in ${what} per minute.`, '60')],
    [`x-ratelimit-remaining-${what}`, header(remaining[what], '59')],
    [`x-ratelimit-reset-${what}`, header('Seconds until the limit is fully replenished.', '1')],
  ]),
)

/** The headers with the budget that has the least left, of those that keys or tags share. */
export const sharedBudgetHeaders: Readonly<Record<string, TSchema>> = {
  'x-budget-limit': header(
    'The shared budget with the least left of those that the request counts in. Only with one.',
    '50',
  ),
  'x-budget-remaining': header('What was left of it before this request, as of a second ago.', '37.496'),
  'x-budget-reset': header('Seconds until it is renewed. Not of a total.', '86400'),
}

/** A successful response, for the OpenAPI document. */
export function answers(
  schema: TSchema,
  description: string,
  headers: Readonly<Record<string, TSchema>> = {},
): TSchema {
  return { ...schema, description, headers: { ...everyAnswer, ...headers } }
}

/** A successful response as JSON or, if the request asks for it, as a stream of server-sent events. */
export function answersOrStreams(
  schema: TSchema,
  description: string,
  events: { readonly description: string; readonly example: string },
  headers: Readonly<Record<string, TSchema>> = {},
): TSchema {
  const all = Object.entries({ ...everyAnswer, ...headers })
  return {
    description,
    headers: Object.fromEntries(
      all.map(([name, { description: meaning, ...type }]: [string, Described]) => [
        name,
        { description: meaning, schema: type },
      ]),
    ),
    content: {
      'application/json': { schema },
      'text/event-stream': { schema: { type: 'string', description: events.description }, example: events.example },
    },
  }
}
type Described = TSchema & { readonly description?: string }

/** Why a request of a signed-in person can always be refused. */
export const refusalsOfPeople: readonly ProblemCode[] = [
  'malformed_request',
  'not_signed_in',
  'forbidden',
  'internal',
  'unavailable',
]

/** Why a JSON body can be refused. */
export const refusalsOfBody: readonly ProblemCode[] = [
  'malformed_json',
  'missing_field',
  'unknown_field',
  'invalid_field',
  'request_too_large',
  'unsupported_media_type',
  'overloaded',
]

/** The errors with these codes, by status, for the OpenAPI document. */
export function refusals(codes: readonly ProblemCode[]): Record<number, TSchema> {
  const byStatus = Map.groupBy(new Set(codes), (code) => problems[code].status)
  return Object.fromEntries([...byStatus].map(([status, same]) => [status, refusal(same)]))
}

function refusal(codes: readonly ProblemCode[]): TSchema {
  const description = codes.map((code) => `\`${code}\`: ${problems[code].meaning}`).join('\n\n')
  return { ...errorBody([...codes]), description, headers: everyRefusal }
}

function errorBody(codes: ProblemCode[]): TObject {
  const limit = Type.Object(
    { name: Type.String(), value: Type.Integer(), remaining: Type.Integer() },
    { description: 'The limit concerned, its value and what remains.' },
  )
  return Type.Object({
    error: Type.Object({
      code: Type.Enum(codes),
      reason: Type.String({ description: 'For people: what is wrong and what to do.' }),
      field: Type.Optional(Type.String({ description: 'The field at fault.' })),
      limit: Type.Optional(limit),
      request_id: Type.String({ format: 'uuid' }),
      docs: Type.String({ format: 'uri', description: 'Documentation of this code.' }),
    }),
  })
}

interface OpenApiNeeds {
  readonly baseUrl: string
  /** Default: made up from the types. */
  readonly examples?: ExampleValues
}

/** Serves the OpenAPI 3.1 document of all routes registered after it, at /openapi.json. */
export async function registerOpenApi(server: Server, { baseUrl, examples = {} }: OpenApiNeeds): Promise<void> {
  server.jsonOnlyUrls.add('/openapi.json')
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version: '1',
        description:
          'A metered text-generation API. Later versions of v1 only add: endpoints, optional fields and new values in requests, ' +
          'fields and headers in responses, and error codes. In responses, only these get new values: the formats of chat ' +
          'completions, responses and messages, as OpenAI and Anthropic extend them, the `kind` and `capabilities` of a model, ' +
          'and the `dialect` of a request. A removal requires /v2 and is announced at least six months ahead with Deprecation ' +
          'and Sunset headers.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      externalDocs: { url: `${baseUrl}/docs/errors`, description: 'Every error code' },
      components: {
        securitySchemes: {
          [apiKey]: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key. Send it from a server: calls from a browser are refused.',
          },
          [session]: {
            type: 'apiKey',
            in: 'cookie',
            name: 'session',
            description: 'Set by signing in. Changes are accepted from pages of the same origin only.',
          },
        },
      },
    },
    transform: ({ schema, url }) => ({ url, schema: withHeaders(schema) }),
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject
      completeDocument(document.openapiObject, baseUrl, examples)
      return document.openapiObject
    },
  })
  server.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    reply.type('application/json; charset=utf-8')
    return server.swagger()
  })
}

function withHeaders(schema: FastifySchema | undefined): FastifySchema {
  if (schema === undefined) return { hide: true }
  const { documentedHeaders, documentedBytes, ...rest } = schema
  const bytes = { schema: { type: 'string', format: 'binary', description: documentedBytes } }
  return {
    ...rest,
    ...(documentedHeaders && { headers: documentedHeaders }),
    ...(documentedBytes !== undefined && { body: { content: { 'application/octet-stream': bytes } } }),
  }
}
