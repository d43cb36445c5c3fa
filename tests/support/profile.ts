import { objectAt, parseObject, type Json } from './json.ts'

/** A response. Redirects are not followed. */
export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly location: string | null
  readonly json: Json
}

export interface Ask {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A browser profile. It keeps cookies by host, and connects to the service's port although its base URL has another name. */
export type Profile = ReturnType<typeof createProfile>

export function createProfile(service: { readonly url: string; readonly baseUrl: string }) {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: URL) => {
    const jar = jars.get(url.host) ?? new Map<string, string>()
    jars.set(url.host, jar)
    return jar
  }

  async function ask(address: string | URL, { method = 'GET', body, headers = {} }: Ask = {}): Promise<Page> {
    const url = new URL(address, service.baseUrl)
    const own = url.origin === service.baseUrl
    const cookie = [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(own ? `${service.url}${url.pathname}${url.search}` : url, {
      method,
      redirect: 'manual',
      headers: {
        ...(cookie !== '' && { cookie }),
        ...(own && method !== 'GET' && { origin: service.baseUrl, 'sec-fetch-site': 'same-origin' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) keep(jarOf(url), line)
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      location: response.headers.get('location'),
      get json() {
        return parseObject(text)
      },
    }
  }

  /** Follows redirects until one leads to a path of the service. Returns that response, or the first without a redirect. */
  async function follow(address: string | URL): Promise<Page> {
    let page = await ask(address)
    let at = new URL(address, service.baseUrl)
    for (let steps = 0; page.location !== null && !page.location.startsWith('/'); steps++) {
      if (steps > 10) throw new Error(`it leads in a circle at ${page.location}`)
      at = new URL(page.location, at)
      page = await ask(at)
    }
    return page
  }

  return {
    ask,
    follow,
    /** The service's cookies. */
    cookies: () => jarOf(new URL(service.baseUrl)),
    /** Starts a sign-in. Returns the URL to which the browser is sent. */
    async start(provider: string, returnTo?: string): Promise<URL> {
      const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`
      const page = await ask(`/auth/start/${provider}${query}`)
      if (page.location === null) throw new Error(`it was not started: ${page.status} ${page.text}`)
      return new URL(page.location)
    },
    /** The callback URL to which the provider redirects, not requested yet. */
    async callbackOf(authorization: URL): Promise<URL> {
      const { location } = await ask(authorization)
      return new URL(location ?? '', authorization)
    },
    /** Signs in at a provider that asks nothing. Returns the response of the callback. */
    async signIn(provider: string, returnTo?: string): Promise<Page> {
      return follow(await this.start(provider, returnTo))
    },
    /** The signed-in person; undefined if there is none. */
    async who(): Promise<Json | undefined> {
      const page = await ask('/me', { headers: { accept: 'application/json' } })
      return page.status === 200 ? objectAt(page.json, 'person') : undefined
    },
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split('; ')
  const equals = pair.indexOf('=')
  const name = pair.slice(0, equals)
  if (attributes.includes('Max-Age=0')) jar.delete(name)
  else jar.set(name, pair.slice(equals + 1))
}
