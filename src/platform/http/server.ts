import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

/** The server that features register their routes on. `createServer` makes it. */
export type Server = FastifyInstance<HttpServer, IncomingMessage, ServerResponse, Logger, TypeBoxTypeProvider>
