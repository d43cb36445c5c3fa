/** The address of a model file, and its name there. */
export interface ModelSource {
  readonly url: URL
  readonly fileName: string
  /** The Authorization header for the host of `url`. No other host receives it. */
  readonly authorization: string | undefined
}

const hub = 'https://huggingface.co'
const expects = 'must be hf:owner/repository/file.gguf or an https:// address that ends in .gguf'
const plainName = /^\w[\w.+=@-]*\.gguf$/i

/**
 * Parses `hf:owner/repository[@revision]/path/file.gguf` or an address. Accepts `http://` for loopback addresses only.
 * Throws a RangeError that describes the valid forms.
 *
 * @param token an access token for the host; it takes precedence over a user name and password in the address
 */
export function parseModelSource(text: string, token?: string): ModelSource {
  const url = parseUrl(text.startsWith('hf:') ? addressOnHub(text.slice(3)) : text)
  if (url === undefined || !isAllowed(url)) throw new RangeError(expects)
  const fileName = decoded(url.pathname.split('/').at(-1) ?? '')
  if (!plainName.test(fileName)) throw new RangeError(expects)
  const [user, password] = [decoded(url.username), decoded(url.password)]
  const basic = user === '' && password === '' ? undefined : `Basic ${btoaUtf8(`${user}:${password}`)}`
  url.username = ''
  url.password = ''
  url.hash = ''
  return { url, fileName, authorization: token === undefined ? basic : `Bearer ${token}` }
}

/** Whether a download from this address is safe from changes on the way. */
export function isAllowed(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

function addressOnHub(place: string): string {
  const [, owner, repository, revision = 'main', file] =
    /^([\w.-]+)\/([\w.-]+)(?:@([\w.-]+))?\/([\w.+=@/-]+)$/.exec(place) ?? []
  if (owner === undefined || repository === undefined || file === undefined) throw new RangeError(expects)
  return `${hub}/${owner}/${repository}/resolve/${revision}/${file}`
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RangeError(expects)
  }
}

function btoaUtf8(text: string): string {
  return Buffer.from(text).toString('base64')
}
