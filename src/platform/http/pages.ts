import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readAssets, type Assets } from './assets.ts'
import { OperatorError } from '../problems.ts'
import { createNonce, pagePolicy } from './security-headers.ts'

/** What a page is told: the answer that the same address gives as JSON, and who is looking. */
export interface PageContent {
  readonly status: number
  readonly data?: unknown
  readonly error?: unknown
  /** The version of a record, as If-Match wants it. */
  readonly etag?: string
}

/** The pages of the portal as `web/` was built. */
export interface Pages {
  /** Answers with the page's shell, which holds the content for the app to show. */
  send(request: FastifyRequest, reply: FastifyReply, content: PageContent): FastifyReply
  readonly assets: Assets
}

export interface PagesNeeds {
  /** Where `scripts/setup.js` puts what it builds. */
  readonly folder: string
  /** What the page says of who is signed in; undefined for nobody. */
  readonly viewer: (request: FastifyRequest) => unknown
}

/** Stand in `web/index.html` for what differs from answer to answer. */
const marks = { nonce: '__NONCE__', content: '__CONTENT__' }

/** Reads the build of `web/`. Throws OperatorError when it is not there. */
export function loadPages({ folder, viewer }: PagesNeeds): Pages {
  const shell = readShell(folder)
  return Object.freeze({
    assets: readAssets(path.join(folder, 'assets')),
    send(request: FastifyRequest, reply: FastifyReply, content: PageContent) {
      const nonce = createNonce()
      // A query can hold secrets, such as the code of a callback: on a refusal, the page shows nothing of it.
      const address = content.error === undefined ? request.url : request.url.replace(/\?.*$/s, '')
      const embedded = { address, ...content, viewer: viewer(request) }
      return reply
        .code(content.status)
        .header('content-security-policy', pagePolicy(nonce))
        .type('text/html; charset=utf-8')
        .send(shell(nonce, embed(embedded)))
    },
  })
}

/** JSON that can stand in a script element: no `<` can end it, and no character is a line end to JavaScript alone. */
function embed(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The shell in its parts, so that no mark is looked for in what a person has written. */
function readShell(folder: string): (nonce: string, content: string) => string {
  const html = read(path.join(folder, 'index.html'))
  const [head, tail, ...rest] = html.split(marks.content).map((part) => part.split(marks.nonce))
  if (!head || !tail || rest.length > 0) {
    throw new OperatorError(`${folder} is not a build of web/. Run "node scripts/setup.js" to build it again.`)
  }
  return (nonce, content) => `${head.join(nonce)}${content}${tail.join(nonce)}`
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(
      `The pages of the portal are not built: ${file} is missing. Run "node scripts/setup.js" to build them.`,
      { cause: error },
    )
  }
}
