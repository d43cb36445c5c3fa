import { problems } from '../problems.ts'
import { codeBlock, escapeHtml, prose } from './html.ts'
import { jsonText } from './literals.ts'
import { anchorOf, renderMarkdown } from './markdown.ts'
import { badge, pageOf, type Area } from './navigation.ts'
import type { ApiCall } from './reference.ts'

/** Where the pages that our Markdown links to are served. */
const served: Readonly<Record<string, string>> = {
  'quickstart.md': '/docs',
  'clients.md': '/docs/clients',
  'errors.md': '/docs/errors',
  'api.md': '/docs/api',
}

/** The main part of a page of `docs/`. A link to a heading of `api.md` leads to the page of that call. */
export function renderGuide(markdown: string, calls: readonly ApiCall[]): string {
  const pages = new Map(calls.map((call) => [anchorOf(`${call.method} ${call.path}`), pageOf(call)]))
  const linkTo = (target: string): string | undefined => {
    const [, file = '', anchor = ''] = /^([^#]*)#?(.*)$/.exec(target) ?? []
    if (file === '') return target
    const url = served[file]
    return file === 'api.md' && anchor !== '' ? pages.get(anchor) : url && `${url}${anchor && `#${anchor}`}`
  }
  return `<article class="guide">\n${renderMarkdown(markdown, linkTo)}\n</article>`
}

/** The list of all calls. */
export function renderCallList(areas: readonly Area[]): string {
  const groups = areas.flatMap(({ title, groups: inArea }) =>
    inArea.map(({ tag, calls }) => {
      const rows = calls.map(
        (call) =>
          `<tr><td>${badge(call)}</td><td><a href="${pageOf(call)}">${escapeHtml(call.path).replaceAll('/', '/<wbr>')}</a></td><td>${escapeHtml(call.summary)}</td></tr>`,
      )
      return `<h2>${escapeHtml(title)}: ${escapeHtml(tag)}</h2>\n<table class="calls"><tbody>${rows.join('\n')}</tbody></table>`
    }),
  )
  return `<article class="guide">
<h1>All calls</h1>
<p>Programs call the API with a key. The portal’s URLs are for people who are signed in; each returns JSON, or a page for <code>Accept: text/html</code>. <a href="/openapi.json">/openapi.json</a> describes everything here for tools (OpenAPI 3.1).</p>
${groups.join('\n')}
</article>`
}

/** One entry for each code, the target of the `docs` link of its errors. */
export function renderErrorGuide(baseUrl: string): string {
  const entries = Object.entries(problems).map(
    ([code, { status, retry, meaning, remedy }]) =>
      `<section class="error" id="${code}">
<h2><a href="#${code}"><code>${code}</code></a> <span class="status">${status}, ${retry ? 'retry later' : 'do not retry unchanged'}</span></h2>
<p>${prose(meaning)}</p>
<p><strong>What to do:</strong> ${prose(remedy)}</p>
</section>`,
  )
  const error = {
    code: 'rate_limit_exceeded',
    reason: 'The account has used up its requests per minute. Retry in 1 s.',
    limit: { name: 'requests_per_minute', value: 60, remaining: 0 },
    request_id: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
    docs: `${baseUrl}/docs/errors#rate_limit_exceeded`,
  }
  return `<article class="guide">
<h1>Errors</h1>
<p>Every error response has a status and a JSON body. <code>code</code> is for programs and keeps its meaning. <code>reason</code> is for people. <code>field</code> names the field at fault, <code>limit</code> the limit that was reached. Quote <code>request_id</code> to support.</p>
${codeBlock(jsonText({ error }))}
<p>The header <code>x-should-retry</code> states whether the same request may succeed later, and <code>Retry-After</code> after how many seconds. A refused request is never charged. If a stream breaks off, the text sent so far is charged. Calls in the formats of OpenAI and Anthropic get errors in those formats: see <a href="/docs/clients">Client libraries</a>.</p>
${entries.join('\n')}
</article>`
}
