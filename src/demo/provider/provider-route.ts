import type Provider from 'oidc-provider'

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
