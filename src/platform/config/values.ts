import { isIP } from 'node:net'
import { parseDecimal } from '../decimal.ts'

/**
 * How one kind of setting is written in the file and what it becomes. `expects` completes "must be …"; `parse` throws a
 * RangeError whose message is the whole sentence for the operator.
 */
export interface Kind<Value> {
  readonly expects: string
  parse(this: void, text: string): Value
}

const milliseconds = new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 }))
const longest = 500 * 3_600_000

/** A span of time; becomes milliseconds, small enough for every timer. */
export const duration: Kind<number> = pattern(
  'a duration such as 500ms, 30s, 60m or 12h, at most 500h',
  /^(\d{1,10})(ms|s|m|h)$/,
  (amount, unit) => within(Number(amount) * (milliseconds.get(unit) ?? Number.NaN), longest),
)

const bytes = new Map(Object.entries({ B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }))

/** An amount of memory; becomes bytes. */
export const size: Kind<number> = pattern(
  'a size such as 64KiB or 1MiB, at most 1GiB',
  /^(\d{1,10})(B|KiB|MiB|GiB)$/,
  (amount, unit) => within(Number(amount) * (bytes.get(unit) ?? Number.NaN), 1024 ** 3),
)

/** A price per million tokens; becomes millionths of the currency unit, which is 10⁻¹² units per token. */
export const price: Kind<bigint> = {
  expects: 'a decimal number in quotes such as "0.40"',
  parse(text) {
    const value = parseDecimal(text, 6)
    if (value < 0n) throw new RangeError('must not be negative')
    if (value > 1_000_000_000_000n) throw new RangeError('must be at most 1000000 per million tokens')
    return value
  },
}

/** A key of 256 bits; stays base64, because the configuration is frozen and bytes cannot be. */
export const encryptionKey: Kind<string> = pattern(
  '32 random bytes in base64, as `openssl rand -base64 32` prints them',
  /^([A-Za-z0-9+/]{43}=)$/,
  (key) => key,
)

/** The id of a model or provider, or an alias: safe in addresses, headers and logs. */
export const id: Kind<string> = pattern(
  'a name of at most 100 letters, digits and . _ - : /, beginning with a letter or digit',
  /^([A-Za-z0-9][A-Za-z0-9._:/-]{0,99})$/,
  (name) => name,
)

/** What counts the tokens of an upstream model. A path may be relative. */
export const tokenizer: Kind<string> = pattern(
  'auto, bytes, o200k_base, cl100k_base, p50k_base, r50k_base, vllm, llama-server, anthropic, or the path of a tokenizer.json',
  /^(auto|bytes|o200k_base|cl100k_base|p50k_base|r50k_base|vllm|llama-server|anthropic|.+\.json)$/,
  (name) => name,
)

/** A share of at most 100 %; becomes a number of percent. */
export const percentage: Kind<number> = pattern(
  'a percentage such as 2% or 0.5%, at most 100%',
  /^(\d{1,3}(?:\.\d{1,2})?)%$/,
  (amount) => (Number(amount) <= 100 ? Number(amount) : undefined),
)

/** The name of an npm package, and nothing else that could be imported. */
export const npmPackage: Kind<string> = pattern(
  'the name of an npm package such as @ai-sdk/anthropic',
  /^((?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)$/,
  (name) => (name.length <= 214 ? name : undefined),
)

/** The name or address that the server listens on. */
export const host: Kind<string> = {
  expects: 'an IP address or a host name',
  parse(text) {
    const name = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/
    if (isIP(text) === 0 && (!name.test(text) || /^[\d.]+$/.test(text))) throw refusal(host)
    return text
  },
}

/** One address or a range of them. */
export const network: Kind<string> = {
  expects: 'an IP address or a range such as 10.0.0.0/8',
  parse(text) {
    const [address = '', prefix = '0', ...rest] = text.split('/')
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) throw refusal(network)
    return text
  },
}

/** The one address that people use; becomes the origin, without a slash at its end. */
export const origin: Kind<string> = {
  expects: 'an address without a path such as https://tollgate.example.com',
  parse(text) {
    const url = parseUrl(text, ['http:', 'https:'])
    if (url === undefined || url.pathname !== '/' || /[?#]/.test(text)) throw refusal(origin)
    return url.origin
  },
}

/** Where an HTTP service begins; loses the slash at its end. */
export const endpoint: Kind<string> = {
  expects: 'an address such as https://models.example.com/v1',
  parse(text) {
    if (parseUrl(text, ['http:', 'https:']) === undefined || /[?#]/.test(text)) throw refusal(endpoint)
    return text.replace(/\/+$/, '')
  },
}

/** An OpenID provider's issuer, kept to the byte: it is compared so. RFC 8414 allows neither query nor fragment. */
export const issuer: Kind<string> = secure('an address such as https://login.example.com')

/** Where the SMS gateway takes its messages. */
export const gateway: Kind<string> = secure('an address such as https://sms.example.com/send')

/** `embedded`, or where PostgreSQL is. */
export const database: Kind<string> = {
  expects: 'embedded, or an address such as postgres://user:password@host:5432/name',
  parse(text) {
    if (text !== 'embedded' && parseAddress(text, ['postgres:', 'postgresql:']) === undefined) throw refusal(database)
    return text
  },
}

/** Where mail is handed in. */
export const mailServer: Kind<string> = {
  expects: 'an address such as smtp://user:password@mail.example.com:587 or smtps://…',
  parse(text) {
    const url = parseAddress(text, ['smtp:', 'smtps:'])
    if (url === undefined || url.hostname === '') throw refusal(mailServer)
    return text
  },
}

/** A domain as it stands after the @ of an address; becomes its lower-case A-label. */
export const domain: Kind<string> = {
  expects: 'a domain such as example.com',
  parse(text) {
    const name =
      URL.canParse(`http://${text}`) && !/[\s/@:?#\\[\]%]/.test(text) ? new URL(`http://${text}`).hostname : ''
    if (!/^([a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{1,62}$/.test(name)) throw refusal(domain)
    return name
  },
}

/** The port to listen on, from the environment. */
export const port: Kind<number> = pattern('a whole number from 0 to 65535', /^(\d{1,5})$/, (text) =>
  Number(text) <= 65_535 ? Number(text) : undefined,
)

/** How many processes serve requests. */
export const processes: Kind<number | 'auto'> = pattern(
  'auto or a whole number from 1 to 256',
  /^(auto|[1-9]\d{0,2})$/,
  (text) => (text === 'auto' ? text : Number(text) <= 256 ? Number(text) : undefined),
)

/** A path in the environment. */
export const filePath: Kind<string> = pattern('a path', /^([^\0]+)$/, (text) => text)

/** A switch in the environment. */
export const onOff: Kind<boolean> = pattern('1 or 0', /^([01])$/, (text) => text === '1')

/** Whether an address stays on this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

function pattern<Value>(expects: string, shape: RegExp, read: (...parts: string[]) => Value | undefined): Kind<Value> {
  const kind: Kind<Value> = {
    expects,
    parse(text) {
      const [, ...parts] = shape.exec(text) ?? []
      const value = parts.length === 0 ? undefined : read(...parts)
      if (value === undefined) throw refusal(kind)
      return value
    },
  }
  return kind
}

function secure(expects: string): Kind<string> {
  const kind: Kind<string> = {
    expects,
    parse(text) {
      const url = parseUrl(text, ['http:', 'https:'])
      if (url === undefined || /[?#]/.test(text)) throw refusal(kind)
      if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
        throw new RangeError('must begin with https://; http:// is accepted on loopback addresses only')
      }
      return text
    },
  }
  return kind
}

/** An address without user and password: those have settings of their own. */
function parseUrl(text: string, schemes: readonly string[]): URL | undefined {
  const url = parseAddress(text, schemes)
  return url?.username === '' && url.password === '' ? url : undefined
}

/** Not `new URL` alone: it drops line breaks and spaces without a word. */
function parseAddress(text: string, schemes: readonly string[]): URL | undefined {
  if (/[\s\p{Cc}]/u.test(text) || !/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return schemes.includes(url.protocol) ? url : undefined
}

function within(value: number, most: number): number | undefined {
  return value > 0 && value <= most ? value : undefined
}

function refusal(kind: Kind<unknown>): RangeError {
  return new RangeError(`must be ${kind.expects}`)
}
