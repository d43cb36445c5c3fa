import { readFileSync } from 'node:fs'
import path from 'node:path'
import swaggerUi from '@fastify/swagger-ui'
import { clientsPage, docPagePolicy, errorPage } from './doc-pages.ts'
import type { Server } from './server.ts'

/** The content security policy of the API page. Nothing is loaded from other origins, and only our own script files run. */
const ownFiles =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** How to call Tollgate with the client libraries of other APIs. */
const clientsFile = path.join(import.meta.dirname, '../../../docs/clients.md')

/** Serves /docs from the OpenAPI document, /docs/clients and /docs/errors. */
export async function registerDocs(server: Server): Promise<void> {
  server.jsonOnlyUrls.add('/docs')
  await server.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: ownFiles,
    theme: { title: 'Tollgate API' },
    // No "Try it out": /v1 refuses calls from a browser. The standalone layout would load documents from any URL.
    uiConfig: { layout: 'BaseLayout', supportedSubmitMethods: [], docExpansion: 'list', validatorUrl: null },
  })
  const pages = { '/docs/clients': clientsPage(readFileSync(clientsFile, 'utf8')), '/docs/errors': errorPage() }
  for (const [url, page] of Object.entries(pages)) {
    server.get(url, { schema: { hide: true } }, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('content-security-policy', docPagePolicy).send(page),
    )
  }
}
