import type { CaughtMail, MailCatcher } from './mail-catcher.ts'
import { demoPage, escape, show, type PageContext, type Route } from '../provider/provider-pages.ts'

/** The list of mails, which looks for new ones by itself. */
function mailListPage(mails: readonly CaughtMail[], portalUrl: string): string {
  const rows = mails.map(
    ({ id, at, to, subject }) => `<li><a class="mail" href="/mail/${id}">
          <strong>${escape(subject)}</strong>
          <span>to ${escape(to)}, <time datetime="${at.toISOString()}">${timeOf(at)}</time></span>
        </a></li>`,
  )
  return demoPage(
    'Mail of the demo',
    `<p>The demo sends no mail. What it would send is here, until the demo stops.</p>
    ${rows.length === 0 ? '<p>There is no mail yet.</p>' : `<ul>\n        ${rows.join('\n        ')}\n      </ul>`}
    <p><a href="${escape(portalUrl)}/signin">Go to the portal</a></p>`,
    { refresh: 2 },
  )
}

/** One mail: as a mail program shows it, and as plain text. */
function mailPage({ id, at, to, subject, text }: CaughtMail): string {
  return demoPage(
    subject,
    `<p>To ${escape(to)}, <time datetime="${at.toISOString()}">${timeOf(at)}</time>. <a href="/mail">All mail</a></p>
    <iframe title="The mail" src="/mail/${id}/html" sandbox="${sandbox}"></iframe>
    <details>
      <summary>Plain text</summary>
      <pre>${linked(escape(text))}</pre>
    </details>`,
    { isWide: true },
  )
}

/** No scripts and no forms; a link opens a tab of its own. */
const sandbox = 'allow-popups allow-popups-to-escape-sandbox'

/** The HTML of a mail as a document of its own, whose links leave the frame. */
function mailDocument({ html }: CaughtMail): string {
  return html.replace('<head>', '<head><base target="_blank">')
}

function noMailPage(): string {
  return demoPage('There is no such mail', '<p>The demo has been restarted since. <a href="/mail">All mail</a></p>')
}

function linked(escaped: string): string {
  return escaped.replaceAll(/https?:\/\/\S+/g, (address) => `<a href="${address}" target="_blank">${address}</a>`)
}

/** Such as 14:05:09, in the time zone of this machine: the demo runs on the machine of its user. */
function timeOf(at: Date): string {
  return at.toLocaleTimeString('en-GB')
}

interface MailRouteNeeds {
  readonly mail: MailCatcher
  readonly portalUrl: string
}

/** A mail may have been written by anyone, so its HTML runs no script and has no origin, even in a tab of its own. */
const documentPolicy = `default-src 'none'; style-src 'unsafe-inline'; sandbox ${sandbox}; base-uri 'none'; frame-ancestors 'self'`

/** The pages of the demo's mail catcher. */
export function mailRoutes({ mail, portalUrl }: MailRouteNeeds): Route[] {
  const found = (context: PageContext, id: string) => {
    const one = mail.find(Number(id))
    if (one === undefined) show(context, noMailPage(), 404)
    return one
  }
  return [
    {
      method: 'GET',
      path: /^\/mail\/?$/,
      answer: (context) => show(context, mailListPage(mail.list(), portalUrl)),
    },
    {
      method: 'GET',
      path: /^\/mail\/(\d+)$/,
      answer(context, id = '') {
        const one = found(context, id)
        if (one) show(context, mailPage(one))
      },
    },
    {
      method: 'GET',
      path: /^\/mail\/(\d+)\/html$/,
      answer(context, id = '') {
        const one = found(context, id)
        if (one === undefined) return
        show(context, mailDocument(one))
        context.set('content-security-policy', documentPolicy)
      },
    },
  ]
}
