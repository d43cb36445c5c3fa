import { escapeHtml } from './html.ts'
import type { ApiCall } from './reference.ts'

/** The pages other than call pages, in navigation order. */
export const guides = {
  '/docs': 'Quickstart',
  '/docs/clients': 'Client libraries',
  '/docs/errors': 'Errors',
  '/docs/api': 'All calls',
} as const

/** The URL of a call's page. */
export const pageOf = ({ id }: Pick<ApiCall, 'id'>): string => `/docs/api/${encodeURIComponent(id)}`

/** A part of the reference: the API for programs, or the portal's URLs. */
export interface Area {
  readonly title: string
  readonly groups: readonly { readonly tag: string; readonly calls: readonly ApiCall[] }[]
}

/** The calls by area and by tag, in the order in which they are given. */
export function areasOf(calls: readonly ApiCall[]): Area[] {
  return [
    { title: 'API', groups: byTag(calls.filter(isApi)) },
    { title: 'Portal', groups: byTag(calls.filter((call) => !isApi(call))) },
  ].filter(({ groups }) => groups.length > 0)
}

const isApi = ({ path }: ApiCall) => path.startsWith('/v1/')

function byTag(calls: readonly ApiCall[]): Area['groups'] {
  return [...Map.groupBy(calls, ({ tag }) => tag)].map(([tag, inTag]) => ({ tag, calls: inTag }))
}

/** The links to all pages. `current` is the URL of the page that they are on. */
export function renderNavigation(areas: readonly Area[], current: string): string {
  const link = (url: string, content: string) =>
    `<li><a href="${url}"${url === current ? ' aria-current="page"' : ''}>${content}</a></li>`
  const group = ({ tag, calls }: Area['groups'][number], isOpen: boolean) => `<details${isOpen ? ' open' : ''}>
<summary>${escapeHtml(tag)}</summary>
<ul>${calls.map((call) => link(pageOf(call), `${badge(call)} ${escapeHtml(call.summary)}`)).join('')}</ul>
</details>`
  const isHere = ({ calls }: Area['groups'][number]) => calls.some((call) => pageOf(call) === current)
  const area = ({ title, groups }: Area) =>
    `<h2>${escapeHtml(title)}</h2>\n${groups.map((each) => group(each, title === 'API' || isHere(each))).join('\n')}`
  const guide = Object.entries(guides).map(([url, title]) => link(url, title))
  return `<ul>${guide.join('')}</ul>\n${areas.map(area).join('\n')}`
}

/** The method of a call, as the navigation and the headings show it. */
export function badge({ method }: Pick<ApiCall, 'method'>): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`
}
