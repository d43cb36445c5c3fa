import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { prefersPage } from '../http/input/headers.ts'
import { compressedAsset, permanently, sendAsset, type Asset } from '../http/pages/assets.ts'
import { docsAddress } from '../http/examples.ts'
import type { Server } from '../http/server.ts'
import { Problem } from '../problems.ts'
import { renderCall } from './call-page.ts'
import { renderCallList, renderErrorGuide, renderGuide } from './guide-pages.ts'
import { docPagePolicy, renderPage, type PageFiles } from './layout.ts'
import { areasOf, guides, pageOf, renderNavigation, type Area } from './navigation.ts'
import { callsOf, type ApiCall } from './reference.ts'
import { samplesOf } from './samples.ts'
import { renderTryIt } from './try-it.ts'

interface DocsNeeds {
  readonly baseUrl: string
  /** The model that samples use in place of `default`. */
  readonly sampleModel: () => string
  /** Below this URL, people who are signed in can make the calls that need a key. */
  readonly tryItUrl: string
}

/**
 * Serves the documentation at /docs: guides, and a page for each operation of the OpenAPI document. A page is rendered at its
 * first request, when all routes are known.
 */
export function registerDocs(server: Server, needs: DocsNeeds): void {
  server.jsonOnlyUrls.add('/docs')
  const files = readFiles()
  const rendered = new Map<string, Page>()
  let mains: ReadonlyMap<string, Main> | undefined
  let areas: readonly Area[] = []
  const respond = (url: string, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (mains === undefined) {
      const calls = callsOf(server.swagger())
      areas = areasOf(calls)
      mains = mainsOf(calls, areas, needs, files)
    }
    const main = mains.get(url)
    const known = main ? url : ''
    const page = rendered.get(known) ?? pageWith(main ?? missing, renderNavigation(areas, known), files.urls)
    rendered.set(known, page)
    return main ? send(page, request, reply) : sendMissing(page, request, reply)
  }
  const schema = { hide: true }
  for (const url of Object.keys(guides)) server.get(url, { schema }, async (...call) => respond(url, ...call))
  server.get('/docs/', { schema }, async (...call) => respond('/docs', ...call))
  server.get<{ Params: { id: string } }>('/docs/api/:id', { schema }, async (request, reply) =>
    respond(pageOf(request.params), request, reply),
  )
  server.get('/docs/*', { schema }, async (request, reply) => respond(request.url, request, reply))
  server.get<{ Params: { name: string } }>('/docs/assets/:name', { schema }, async (request, reply) => {
    const file = files.byName.get(request.params.name)
    if (!file) throw new Problem('not_found', 'This file is from another version. Reload the page.')
    return sendAsset(request, reply.header('cache-control', permanently), file)
  })
}

interface Page {
  readonly asset: Asset
  readonly tag: string
}

function send({ asset, tag }: Page, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ 'cache-control': 'no-cache', etag: tag, 'content-security-policy': docPagePolicy })
  return request.headers['if-none-match'] === tag ? reply.code(304).send() : sendAsset(request, reply, asset)
}

/** Responds to a URL that is no page: with a page for a reader, and with an error for a program. */
function sendMissing({ asset }: Page, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!prefersPage(request.headers.accept)) {
    throw new Problem('not_found', 'There is no such page. /docs/api lists the calls.')
  }
  reply.code(404).headers({ 'cache-control': 'no-store', 'content-security-policy': docPagePolicy })
  return sendAsset(request, reply, asset)
}

/** The main part of a page. */
interface Main {
  readonly title: string
  readonly render: () => string
}

const missing: Main = {
  title: 'Page not found',
  render: () => `<h1>Page not found</h1>
<p>The address is wrong, or the page no longer exists. The <a href="/docs">quickstart</a> shows how to begin, and
<a href="/docs/api">all calls</a> lists the reference.</p>`,
}

function pageWith({ title, render }: Main, navigation: string, files: PageFiles): Page {
  const html = renderPage({ title, main: render(), navigation, files })
  return { asset: compressedAsset('text/html; charset=utf-8', html), tag: `W/"${hashOf(html)}"` }
}

/** Every page by its URL. */
function mainsOf(
  calls: readonly ApiCall[],
  areas: readonly Area[],
  needs: DocsNeeds,
  files: Pick<DocFiles, 'tryScript'>,
): Map<string, Main> {
  const { baseUrl, tryItUrl } = needs
  const localise = localiser(needs)
  const guide = (name: string) => () => renderGuide(localise(readFileSync(path.join(guideFolder, name), 'utf8')), calls)
  const renders = {
    '/docs': guide('quickstart.md'),
    '/docs/clients': guide('clients.md'),
    '/docs/errors': () => renderErrorGuide(baseUrl),
    '/docs/api': () => renderCallList(areas),
  } satisfies Record<keyof typeof guides, () => string>
  const titles: Readonly<Record<string, string>> = guides
  const sampled = (call: ApiCall) =>
    samplesOf(call, baseUrl).map((sample) => ({ ...sample, source: localise(sample.source) }))
  return new Map([
    ...Object.entries(renders).map(([url, render]): [string, Main] => [url, { title: titles[url] ?? '', render }]),
    ...calls.map((call): [string, Main] => [
      pageOf(call),
      {
        title: call.summary,
        render: () =>
          renderCall(call, sampled(call), renderTryIt(call, { tryItUrl, script: files.tryScript, localise })),
      },
    ]),
  ])
}

/** Puts this service's URL and a model that it has into samples. */
function localiser({ baseUrl, sampleModel }: DocsNeeds): (text: string) => string {
  const model = sampleModel()
  return (text) =>
    text.replaceAll(docsAddress, baseUrl).replaceAll(/(["'])default\1/g, (_, quote: string) => quote + model + quote)
}

const guideFolder = path.join(import.meta.dirname, '../../../docs')

interface DocFiles {
  readonly byName: ReadonlyMap<string, Asset>
  /** The assets of every page. */
  readonly urls: PageFiles
  /** The script of the pages on which a call can be tried. */
  readonly tryScript: string
}

/** The files that pages load, under names that change with their content. */
function readFiles(): DocFiles {
  const byName = new Map<string, Asset>()
  const add = (file: string, type: string): string => {
    const text = readFileSync(path.join(import.meta.dirname, file), 'utf8')
    const { name, ext } = path.parse(file)
    const hashed = `${name}-${hashOf(text)}${ext}`
    byName.set(hashed, compressedAsset(type, text))
    return `/docs/assets/${hashed}`
  }
  const script = (file: string) => add(file, 'text/javascript; charset=utf-8')
  const urls: PageFiles = {
    style: add('pages.css', 'text/css; charset=utf-8'),
    script: script('pages.js'),
    icon: add('../../../web/icon.svg', 'image/svg+xml'),
  }
  return { byName, urls, tryScript: script('try-it.js') }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}
