import type { MailCatcher } from './mail-catcher.ts'
import { mailDocument, mailListPage, mailPage, noMailPage, sandbox } from './mail-pages.ts'
import { show, type PageContext, type Route } from '../provider/provider-route.ts'

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
