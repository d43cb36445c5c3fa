import type Provider from 'oidc-provider'
import type { InteractionResults } from 'oidc-provider'
import type { DemoPerson } from '../people.ts'
import type { MailCatcher } from '../mail/mail-catcher.ts'
import { mailRoutes } from '../mail/mail-routes.ts'
import {
  choicePage,
  expiredPage,
  idlePage,
  show,
  signedOutPage,
  type Middleware,
  type PageContext,
  type Route,
} from './provider-pages.ts'
import type { Portal } from './provider-setup.ts'
import { afterSignOut, type EndSignIn } from './provider-sign-out.ts'

export interface RouteNeeds {
  readonly provider: Provider
  readonly people: readonly DemoPerson[]
  readonly portal: Portal
  readonly stylesheet: string
  readonly endSignIn: EndSignIn
  readonly mail: MailCatcher
}

/** Refuses other host names: a foreign page may have pointed its own name here (DNS rebinding). */
export function guard({ issuer }: Provider, { baseUrl }: Portal): Middleware {
  const { host } = new URL(issuer)
  // form-action also covers the redirects after a form, and the last one leads to the portal.
  const policy = `default-src 'none'; style-src 'self'; img-src data:; frame-src 'self'; form-action 'self' ${baseUrl}; base-uri 'none'; frame-ancestors 'none'`
  return async (context, next) => {
    context.set({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    if (context.host === host) return void (await next())
    context.status = 421
    context.body = `This host is ${host}.\n`
  }
}

/** Our own pages, before the library's routes. */
export function pages(needs: RouteNeeds): Middleware {
  const { mail, portal } = needs
  const mails = mailRoutes({ mail, portalUrl: portal.baseUrl })
  const routes = [...pageRoutes(needs), ...choiceRoutes(needs), signOutRoute(needs), ...mails]
  return async (context, next) => {
    for (const { method, path, answer } of routes) {
      const match = method === context.method ? path.exec(context.path) : null
      if (match !== null) return answer(context, ...match.slice(1))
    }
    await next()
  }
}

function pageRoutes({ portal, stylesheet }: RouteNeeds): Route[] {
  return [
    { method: 'GET', path: /^\/$/, answer: (context) => show(context, idlePage(portal.baseUrl)) },
    {
      method: 'GET',
      path: /^\/page\.css$/,
      answer(context) {
        context.type = 'css'
        context.body = stylesheet
      },
    },
  ]
}

function choiceRoutes({ provider, people, portal, endSignIn }: RouteNeeds): Route[] {
  const underWay = (context: PageContext) =>
    provider.interactionDetails(context.req, context.res).catch(() => undefined)

  /** Choosing another person than before ends the previous sign-in. */
  async function choose(context: PageContext, choice: string): Promise<InteractionResults | undefined> {
    if ((await underWay(context)) === undefined) return undefined
    if (choice === 'cancel') return { error: 'access_denied', error_description: 'The sign-in was cancelled.' }
    const person = people.find(({ subject }) => subject === choice)
    if (person === undefined) return undefined
    const session = await provider.Session.get(context)
    if (session.accountId !== undefined && session.accountId !== person.subject) await endSignIn(session)
    return { login: { accountId: person.subject, remember: false } }
  }

  return [
    {
      method: 'GET',
      path: /^\/interaction\/([\w-]+)$/,
      async answer(context, uid = '') {
        const known = (await underWay(context))?.uid === uid
        show(context, known ? choicePage(uid, people) : expiredPage(portal.baseUrl), known ? 200 : 400)
      },
    },
    {
      method: 'POST',
      path: /^\/interaction\/[\w-]+\/([\w-]+)$/,
      async answer(context, choice = '') {
        const result = await choose(context, choice)
        if (result === undefined) return show(context, expiredPage(portal.baseUrl), 400)
        redirect(
          context,
          await provider.interactionResult(context.req, context.res, result, { mergeWithLastSubmission: false }),
        )
      },
    },
  ]
}

/**
 * RP-initiated logout without the confirmation that its specification recommends: the person has confirmed at the portal,
 * and a demo has nothing to lose.
 */
function signOutRoute({ provider, portal, endSignIn }: RouteNeeds): Route {
  return {
    method: 'GET',
    path: /^\/session\/end$/,
    async answer(context) {
      await endSignIn(await provider.Session.get(context))
      context.cookies.set(provider.cookieName('session'), null)
      const next = afterSignOut(context.query, portal)
      if (next === undefined) show(context, signedOutPage(portal.baseUrl))
      else redirect(context, next)
    },
  }
}

function redirect(context: PageContext, address: string): void {
  context.status = 303
  context.redirect(address)
}
