import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readAssets, sendPage, type Assets } from './assets.ts'
import type { Logo } from './logo.ts'
import { OperatorError } from '../../problems.ts'
import { createNonce, pagePolicy } from './security-headers.ts'

/** The HTML shells, each with its own scripts: the portal, and the small sign-in page. */
export type Shell = 'portal' | 'sign-in'

/** The content of a page: what the same URL returns as JSON. */
export interface PageContent {
  /** Default `portal`. */
  readonly shell?: Shell | undefined
  readonly status: number
  readonly data?: unknown
  readonly error?: unknown
  /** The entity tag of the JSON, for If-Match. */
  readonly etag?: string
}

/** The built pages of `web/`. */
export interface Pages {
  /** Responds with the HTML shell, with the content embedded for the app to render. */
  send(request: FastifyRequest, reply: FastifyReply, content: PageContent): FastifyReply
  readonly assets: Assets
  /** The URL of the sign-in page. After signing in it redirects to `returnTo`. */
  signInUrl(returnTo: string): string
}

export interface PagesNeeds {
  /** The output folder of the build in `scripts/setup.js`. */
  readonly folder: string
  /** Describes the signed-in person to the page; undefined if nobody is signed in. */
  readonly viewer: (request: FastifyRequest) => unknown
  readonly signInUrl: Pages['signInUrl']
  /** The firm's settings that pages need. */
  readonly settings: object
  readonly logo?: Logo | undefined
}

/** Placeholders in the `index.html` of each shell. */
const placeholders = {
  nonce: '__NONCE__',
  style: '<!--__STYLE__-->',
  first: '<!--__FIRST__-->',
  content: '__CONTENT__',
} as const

/** Reads the build of `web/`. Throws OperatorError if it is missing or damaged. */
export async function loadPages({ folder, viewer, signInUrl, settings, logo }: PagesNeeds): Promise<Pages> {
  const signInFolder = path.join(folder, 'sign-in')
  const shells = { portal: readShell(folder), 'sign-in': readShell(signInFolder) }
  const first = await loadFirstPicture(path.join(folder, 'first'))
  const assets = [folder, signInFolder].map((each) => readAssets(path.join(each, 'assets')))
  return Object.freeze({
    assets: new Map([...assets.flatMap((each) => [...each]), ...(logo ? [[logo.name, logo.asset] as const] : [])]),
    signInUrl,
    send(request: FastifyRequest, reply: FastifyReply, { shell = 'portal', ...content }: PageContent) {
      const nonce = createNonce()
      // A query can contain secrets, such as the code of a callback. An error page does not get it.
      const address = content.error === undefined ? request.url : request.url.replace(/\?.*$/s, '')
      const embedded = { address, ...content, viewer: viewer(request), settings }
      const html = shells[shell]({
        [placeholders.nonce]: nonce,
        [placeholders.style]: `<style id="first-style" nonce="${nonce}">${first.style}</style>`,
        [placeholders.first]: shell === 'portal' ? rendered(first, embedded, request) : '',
        [placeholders.content]: embed(embedded),
      })
      reply.code(content.status).header('content-security-policy', pagePolicy(nonce)).type('text/html; charset=utf-8')
      return sendPage(request, reply, html)
    },
  })
}

/** What a page shows before its scripts have arrived: the build of `web/first`. */
interface FirstPicture {
  readonly style: string
  /** Renders the content of a page as HTML. */
  readonly render: (content: object) => string
}

async function loadFirstPicture(folder: string): Promise<FirstPicture> {
  const style = read(path.join(folder, 'first.css'))
  const program: unknown = await import(pathToFileURL(path.join(folder, 'first.js')).href)
  if (!isFirstPicture(program)) throw new OperatorError(notBuilt(folder))
  return { style, render: program.firstPicture }
}

function isFirstPicture(program: unknown): program is { readonly firstPicture: FirstPicture['render'] } {
  return (
    typeof program === 'object' &&
    program !== null &&
    'firstPicture' in program &&
    typeof program.firstPicture === 'function'
  )
}

/** A page whose first picture cannot be rendered is shown once its scripts have arrived. */
function rendered({ render }: FirstPicture, content: object, { log }: FastifyRequest): string {
  try {
    return render(content)
  } catch (error) {
    log.error({ err: error }, 'the first picture of a page was not rendered')
    return ''
  }
}

/** Escapes JSON for a script element: `<` could end it, and two line separators of Unicode end lines in JavaScript. */
function embed(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Splits the shell at its placeholders once, so that a placeholder in a person's text is never replaced. */
function readShell(folder: string): (values: Readonly<Record<string, string>>) => string {
  const html = read(path.join(folder, 'index.html'))
  const parts = html.split(new RegExp(`(${Object.values(placeholders).join('|')})`))
  if (parts.filter((part) => part === placeholders.content).length !== 1) {
    throw new OperatorError(notBuilt(folder))
  }
  return (values) => parts.map((part) => values[part] ?? part).join('')
}

const notBuilt = (folder: string) => `${folder} is not a build of web/. Rebuild it with "node scripts/setup.js".`

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(
      `The pages of the portal are not built: ${file} is missing. Build them with "node scripts/setup.js".`,
      { cause: error },
    )
  }
}
