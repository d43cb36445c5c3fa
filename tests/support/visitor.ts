/** A response and its URL. */
export interface Page {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Request {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A browser without scripts. It keeps cookies by RFC 6265, as far as the tests' servers use them. */
export interface Visitor {
  /** Sends one request. Redirects are not followed. */
  ask(this: void, address: string, request?: Request): Promise<Page>
  /** Sends a request and follows up to ten redirects. */
  visit(this: void, address: string, request?: Request): Promise<Page>
  /** The Cookie header for a URL. */
  cookies(this: void, address: string): string
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly host: string
  readonly path: string
}

const mostSteps = 10

export function createVisitor(): Visitor {
  const jar = new Map<string, Cookie>()
  const cookies = (address: string) => cookiesFor(jar, new URL(address))

  async function ask(address: string, { method = 'GET', headers = {}, body }: Request = {}): Promise<Page> {
    const url = new URL(address)
    const cookie = cookiesFor(jar, url)
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie !== '' && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    })
    for (const line of response.headers.getSetCookie()) keep(jar, url, line)
    return { url: url.href, status: response.status, headers: response.headers, text: await response.text() }
  }

  return {
    ask,
    cookies,
    async visit(address, request) {
      let page = await ask(address, request)
      for (let steps = 0; steps < mostSteps; steps++) {
        const next = page.headers.get('location')
        if (page.status < 300 || page.status > 399 || next === null) return page
        page = await ask(new URL(next, page.url).href, { headers: request?.headers ?? {} })
      }
      throw new Error(`${address} leads on and on`)
    },
  }
}

/** Cookies are not bound to a port. */
function cookiesFor(jar: ReadonlyMap<string, Cookie>, { hostname, pathname }: URL): string {
  return [...jar.values()]
    .filter(({ host, path }) => host === hostname && isBelow(pathname, path))
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ')
}

/** RFC 6265, 5.1.4. */
function isBelow(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}

function keep(jar: Map<string, Cookie>, { hostname, pathname }: URL, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
  const attribute = (name: string) =>
    attributes.find((each) => each.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1)
  const equals = pair.indexOf('=')
  const cookie = {
    name: pair.slice(0, equals),
    value: pair.slice(equals + 1),
    host: hostname,
    path: attribute('path') ?? pathname.slice(0, Math.max(1, pathname.lastIndexOf('/'))),
  }
  const key = `${cookie.name} ${cookie.host} ${cookie.path}`
  const age = attribute('max-age')
  const expires = attribute('expires')
  const gone = age === undefined ? expires !== undefined && Date.parse(expires) <= Date.now() : Number(age) <= 0
  if (gone) jar.delete(key)
  else jar.set(key, cookie)
}
