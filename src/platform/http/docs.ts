import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import swaggerUi from '@fastify/swagger-ui'
import type { Server } from './server.ts'
import { problems } from '../problems.ts'

const style = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
dt { margin-top: 1.5rem } dd { margin: 0.25rem 0 0 0 } code { font-size: 1.05em } dt:target { background: #fff3c4 }
.status { color: #555 } @media (prefers-color-scheme: dark) { body { color: #eee; background: #16181c } .status { color: #aaa } dt:target { background: #55450a } a { color: #8ab4ff } }`

/** Content security policies. Nothing is loaded from other origins, and only our own script files run. */
const noScripts = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
const ownFiles =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** How to call Tollgate with the client libraries of other APIs, in Markdown. */
const clientsPage = path.join(import.meta.dirname, '../../../docs/clients.md')

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
  const clients = readFileSync(clientsPage, 'utf8')
  server.get('/docs/clients', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(clients),
  )
  const page = errorPage()
  server.get('/docs/errors', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', noScripts).send(page),
  )
}

/** One entry per code, the target of the `docs` link of its errors. */
function errorPage(): string {
  const entries = Object.entries(problems).map(
    ([code, { status, retry, meaning, remedy }]) =>
      `<dt id="${code}"><code>${code}</code> <span class="status">${status}, ${retry ? 'retry later' : 'do not retry unchanged'}</span></dt>\n<dd>${prose(meaning)} ${prose(remedy)}</dd>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Tollgate errors</title><style>${style}</style></head>
<body><main><h1>Errors</h1>
<p>Every error response is <code>{"error": {"code", "reason", "field"?, "limit"?, "request_id", "docs"}}</code>. The header <code>x-should-retry</code> states whether the same request may succeed later, and <code>Retry-After</code> after how many seconds. A refused request is never charged. If a stream breaks off, the text sent so far is charged. <a href="/docs/">/docs</a> lists the URLs of the API.</p>
<dl>
${entries.join('\n')}
</dl></main></body></html>
`
}

function prose(text: string): string {
  return escape(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
