import type { DemoPerson } from './people.ts'

/** Whom the page offers to be, for the sign-in of this id. */
export function choicePage(uid: string, people: readonly DemoPerson[]): string {
  const address = `/interaction/${encodeURIComponent(uid)}`
  return page(
    'Who is signing in?',
    `<p>Choose someone of Penhallow Advisory, a made-up firm. There are no passwords.</p>
    <form method="post">
      <ul>
        ${people.map((person) => `<li>${button(person, address)}</li>`).join('\n        ')}
      </ul>
      <button class="quiet" formaction="${address}/cancel">Cancel</button>
    </form>`,
  )
}

/** For a choice that comes too late, or from a browser that was not asked. */
export function expiredPage(portalUrl: string): string {
  return message(
    'This sign-in is over',
    'It has waited for too long, was begun in another browser, or was not understood. Begin again at the portal.',
    portalUrl,
  )
}

export function signedOutPage(portalUrl: string): string {
  return message('You are signed out', 'Here, and at the portal.', portalUrl)
}

/** For who comes here without being sent. */
export function idlePage(portalUrl: string): string {
  return message('The demo’s sign-in', 'There is nothing to do here: sign in at the portal.', portalUrl)
}

function message(title: string, text: string, portalUrl: string): string {
  return page(title, `<p>${text}</p>\n    <p><a href="${escape(portalUrl)}/signin">Go to the portal</a></p>`)
}

function button({ subject, name, role, email }: DemoPerson, address: string): string {
  const initials = name.replaceAll(/(\p{L})\p{L}*\s*/gu, '$1')
  return `<button class="person" formaction="${address}/${encodeURIComponent(subject)}">
          <span class="initials" aria-hidden="true">${escape(initials)}</span>
          <span class="who"><strong>${escape(name)}</strong> <span>${may[role]}</span> <span>${escape(email)}</span></span>
        </button>`
}

const may = { partner: 'Partner, sees every client', consultant: 'Consultant, sees own clients' }

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escape(title)} · Tollgate demo</title>
    <link rel="stylesheet" href="/page.css">
  </head>
  <body>
    <main>
    <h1>${escape(title)}</h1>
    ${content}
    </main>
    <footer>This sign-in is for trying Tollgate out. It runs on this machine only and keeps nothing.</footer>
  </body>
</html>
`
}

function escape(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
