import type Provider from 'oidc-provider'
import type { DemoPerson } from '../people.ts'

export type Middleware = Parameters<Provider['use']>[0]
export type PageContext = Parameters<Middleware>[0]

/** A page of our own, beside those of the library. */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: RegExp
  answer(this: void, context: PageContext, ...parts: string[]): Promise<void> | void
}

export function show(context: PageContext, html: string, status = 200): void {
  context.status = status
  context.type = 'html'
  context.body = html
}

/** The choice of a person, for the interaction with this id. */
export function choicePage(uid: string, people: readonly DemoPerson[]): string {
  const address = `/interaction/${encodeURIComponent(uid)}`
  return demoPage(
    'Who is signing in?',
    `<p>Choose a person at Penhallow Advisory, a fictional firm. There are no passwords.</p>
    <form method="post">
      <ul>
        ${people.map((person) => `<li>${button(person, address)}</li>`).join('\n        ')}
      </ul>
      <button class="quiet" formaction="${address}/cancel">Cancel</button>
    </form>`,
  )
}

/** For a choice that comes too late, or from another browser. */
export function expiredPage(portalUrl: string): string {
  return message(
    'This sign-in has expired',
    'It took too long, was started in another browser, or was not valid. Start again at the portal.',
    portalUrl,
  )
}

export function signedOutPage(portalUrl: string): string {
  return message('You are signed out', 'You are signed out here and at the portal.', portalUrl)
}

/** The home page, for visitors without an interaction. */
export function idlePage(portalUrl: string): string {
  return message('The demo’s sign-in', 'Nothing to do here. Sign in at the portal.', portalUrl)
}

function message(title: string, text: string, portalUrl: string): string {
  return demoPage(title, `<p>${text}</p>\n    <p><a href="${escape(portalUrl)}/signin">Go to the portal</a></p>`)
}

function button({ subject, name, role, email }: DemoPerson, address: string): string {
  const initials = name.replaceAll(/(\p{L})\p{L}*\s*/gu, '$1')
  return `<button class="person" formaction="${address}/${encodeURIComponent(subject)}">
          <span class="initials" aria-hidden="true">${escape(initials)}</span>
          <span class="who"><strong>${escape(name)}</strong> <span>${may[role]}</span> <span>${escape(email)}</span></span>
        </button>`
}

const may = {
  partner: 'Partner: sees every client',
  consultant: 'Consultant: sees their own clients',
  developer: 'Developer: sees the accounts granted to them',
}

interface PageOptions {
  /** Seconds until the page loads itself again. */
  readonly refresh?: number
  readonly isWide?: boolean
}

/** Without it, browsers ask for /favicon.ico. The policy forbids that, and Firefox reports it as a violation. */
const noIcon = '<link rel="icon" href="data:,">'

/** A page of the demo, around HTML. */
export function demoPage(title: string, content: string, { refresh, isWide = false }: PageOptions = {}): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">${refresh === undefined ? '' : `\n    <meta http-equiv="refresh" content="${refresh}">`}
    <title>${escape(title)} · Tollgate demo</title>
    ${noIcon}
    <link rel="stylesheet" href="/page.css">
  </head>
  <body>
    <main${isWide ? ' class="wide"' : ''}>
    <h1>${escape(title)}</h1>
    ${content}
    </main>
    <footer>This page is part of the Tollgate demo. It runs on this machine only and stores nothing.</footer>
  </body>
</html>
`
}

export function escape(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
