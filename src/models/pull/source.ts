/** Where a model file is downloaded from, and the name that it has there. */
export interface ModelSource {
  readonly url: URL
  readonly fileName: string
  /** What an Authorization header says to the host of `url`, and to no other. */
  readonly authorization: string | undefined
}

const hub = 'https://huggingface.co'
const expects = 'must be hf:owner/repository/file.gguf or an https:// address that ends in .gguf'
const plainName = /^\w[\w.+=@-]*\.gguf$/i

/**
 * Reads `hf:owner/repository[@revision]/path/file.gguf`, or an address. `http://` is taken on loopback addresses only.
 * Throws a RangeError with what is right.
 *
 * @param token for the first host; a name and password in the address count as well
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

/** Whether files are taken from there: nobody between here and there can change what comes. */
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
