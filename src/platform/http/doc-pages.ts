import { createHash } from 'node:crypto'
import { problems } from '../problems.ts'
import { escapeHtml, renderMarkdown } from './markdown.ts'

const style = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
dt { margin-top: 1.5rem } dd { margin: 0.25rem 0 0 0 } code { font-size: 1.05em } dt:target { background: #fff3c4 }
table { border-collapse: collapse } th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid #ccc }
.status { color: #555 } @media (prefers-color-scheme: dark) { body { color: #eee; background: #16181c } .status { color: #aaa } dt:target { background: #55450a } a { color: #8ab4ff } th, td { border-color: #444 } }`

/** The content security policy of these pages: no scripts, and nothing from other origins. */
export const docPagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

function docPage(title: string, main: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head>
<body><main>${main}</main></body></html>
`
}

/** Where the pages that `docs/clients.md` links to are served. */
const served: Readonly<Record<string, string>> = { 'api.md': '/docs/', 'errors.md': '/docs/errors' }

const linkTo = (target: string): string | undefined => (target.startsWith('#') ? target : served[target])

/** The page of `docs/clients.md`. */
export function clientsPage(markdown: string): string {
  return docPage('Tollgate clients', renderMarkdown(markdown, linkTo))
}

/** One entry per code, the target of the `docs` link of its errors. */
export function errorPage(): string {
  const entries = Object.entries(problems).map(
    ([code, { status, retry, meaning, remedy }]) =>
      `<dt id="${code}"><code>${code}</code> <span class="status">${status}, ${retry ? 'retry later' : 'do not retry unchanged'}</span></dt>\n<dd>${prose(meaning)} ${prose(remedy)}</dd>`,
  )
  return docPage(
    'Tollgate errors',
    `<h1>Errors</h1>
<p>Every error response is <code>{"error": {"code", "reason", "field"?, "limit"?, "request_id", "docs"}}</code>. The header <code>x-should-retry</code> states whether the same request may succeed later, and <code>Retry-After</code> after how many seconds. A refused request is never charged. If a stream breaks off, the text sent so far is charged. <a href="/docs/">/docs</a> lists the URLs of the API.</p>
<dl>
${entries.join('\n')}
</dl>`,
  )
}

function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}
