import { isIP } from 'node:net'
import { parseDecimal } from '../text/decimal.ts'
import { ownFields } from './own-fields.ts'

/**
 * The format of a setting. `expects` completes "must be …". `parse` converts the text, or throws RangeError with a message
 * for the operator.
 */
export interface SettingFormat<Value> {
  readonly expects: string
  parse(this: void, text: string): Value
}

const milliseconds = new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000 }))
const longest = 500 * 3_600_000

/** Converted to milliseconds. The maximum fits every timer. */
export const duration: SettingFormat<number> = pattern(
  'a duration such as 500ms, 30s, 60m or 12h, at most 500h',
  /^(\d{1,10})(ms|s|m|h)$/,
  (amount, unit) => within(Number(amount) * (milliseconds.get(unit) ?? Number.NaN), longest),
)

/** Converted to milliseconds. */
export const delay: SettingFormat<number> = pattern(
  'a time such as 0s, 500ms or 10s, at most 10m',
  /^(\d{1,10})(ms|s|m)$/,
  (amount, unit) => {
    const time = Number(amount) * (milliseconds.get(unit) ?? Number.NaN)
    return time <= 600_000 ? time : undefined
  },
)

/** A number of days or years, as PostgreSQL writes intervals: `30 days`. */
export const period: SettingFormat<string> = pattern(
  'a number of days or years such as 30d or 10y, at most 100y',
  /^(\d{1,5})([dy])$/,
  (amount, unit) => {
    const [name, most] = unit === 'y' ? ['year', 100] : ['day', 36_500]
    const count = Number(amount)
    return count <= most ? `${count} ${name}${count === 1 ? '' : 's'}` : undefined
  },
)

const bytes = new Map(Object.entries({ B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }))

/** Converted to bytes. */
export const size: SettingFormat<number> = pattern(
  'a size such as 64KiB or 1MiB, at most 1GiB',
  /^(\d{1,10})(B|KiB|MiB|GiB)$/,
  (amount, unit) => within(Number(amount) * (bytes.get(unit) ?? Number.NaN), 1024 ** 3),
)

const fieldName = 'the name of a field such as top_k'

/** A field that requests may have for an upstream. */
export const passedField: SettingFormat<string> = {
  expects: fieldName,
  parse(text) {
    if (!/^[a-z]\w{0,63}$/i.test(text)) throw new RangeError(`must be ${fieldName}`)
    if (ownFields.has(text)) {
      throw new RangeError(
        `must not be ${text}, which Tollgate reads itself or has to refuse: see the fields in docs/api.md`,
      )
    }
    return text
  },
}

/** A price per million tokens, converted to millionths of the currency unit: 10⁻¹² units per token. */
export const price: SettingFormat<bigint> = {
  expects: 'a decimal number in quotes such as "0.40"',
  parse(text) {
    const value = parseDecimal(text, 6)
    if (value < 0n) throw new RangeError('must not be negative')
    if (value > 1_000_000_000_000n) throw new RangeError('must be at most 1000000 per million tokens')
    return value
  },
}

/** A multiplier of prices, converted to millionths. */
export const factor: SettingFormat<bigint> = {
  expects: 'a decimal number in quotes such as "1.1"',
  parse(text) {
    const value = parseDecimal(text, 6)
    if (value <= 0n) throw new RangeError('must be above 0')
    if (value > 1_000_000_000n) throw new RangeError('must be at most 1000')
    return value
  },
}

/** A price per image or use, converted to 10⁻¹² of the currency unit. An invoice has the price of a thousand, with six decimals. */
export const usePrice: SettingFormat<bigint> = {
  expects: 'a decimal number in quotes such as "0.01"',
  parse(text) {
    const value = parseDecimal(text, 9) * 1000n
    if (value < 0n) throw new RangeError('must not be negative')
    if (value > 1_000_000_000_000_000n) throw new RangeError('must be at most 1000')
    return value
  },
}

/** A key of 256 bits. It stays base64, because byte arrays cannot be frozen. */
export const encryptionKey: SettingFormat<string> = pattern(
  '32 random bytes in base64, as `openssl rand -base64 32` prints them',
  /^([A-Za-z0-9+/]{43}=)$/,
  (key) => key,
)

/** The id of a model or provider, or an alias. Safe in URLs, headers and logs. */
export const id: SettingFormat<string> = pattern(
  'a name of at most 100 letters, digits and . _ - : /, beginning with a letter or digit',
  /^([A-Za-z0-9][A-Za-z0-9._:/-]{0,99})$/,
  (name) => name,
)

/** The tokenizer of an upstream model. A path may be relative. */
export const tokenizer: SettingFormat<string> = pattern(
  'auto, bytes, o200k_base, cl100k_base, p50k_base, r50k_base, vllm, llama-server, anthropic, or the path of a tokenizer.json',
  /^(auto|bytes|o200k_base|cl100k_base|p50k_base|r50k_base|vllm|llama-server|anthropic|.+\.json)$/,
  (name) => name,
)

/** Converted to a number of percent. */
export const percentage: SettingFormat<number> = pattern(
  'a percentage such as 2% or 0.5%, at most 100%',
  /^(\d{1,3}(?:\.\d{1,2})?)%$/,
  (amount) => (Number(amount) <= 100 ? Number(amount) : undefined),
)

/** The name of an npm package; no other import specifier is accepted. */
export const npmPackage: SettingFormat<string> = pattern(
  'the name of an npm package such as @ai-sdk/anthropic',
  /^((?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)$/,
  (name) => (name.length <= 214 ? name : undefined),
)

/** The name or address that the server listens on. */
export const host: SettingFormat<string> = {
  expects: 'an IP address or a host name',
  parse(text) {
    const name = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/
    if (isIP(text) === 0 && (!name.test(text) || /^[\d.]+$/.test(text))) throw mismatch(host)
    return text
  },
}

/** An address or a CIDR range. */
export const network: SettingFormat<string> = {
  expects: 'an IP address or a range such as 10.0.0.0/8',
  parse(text) {
    const [address = '', prefix = '0', ...rest] = text.split('/')
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) throw mismatch(network)
    return text
  },
}

/** Valid without asking Intl, whose tables of all locales take 8 MB: an installation with the defaults never loads them. */
export const [defaultTimeZone, defaultLocale] = ['UTC', 'en-GB']

/** A time zone, in the spelling of the IANA database. */
export const timeZone: SettingFormat<string> = {
  expects: 'a time zone such as Europe/Zurich',
  parse(text) {
    if (text === defaultTimeZone) return text
    return named(timeZone, () => new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone)
  },
}

/** As `07:00`. */
export const morning: SettingFormat<string> = pattern(
  'a time of day before noon such as 07:00',
  /^((?:0\d|1[01]):[0-5]\d)$/,
  (time) => time,
)

/** A language with a region (BCP 47), normalised. */
export const locale: SettingFormat<string> = {
  expects: 'a locale such as en-GB or de-CH',
  parse(text) {
    return text === defaultLocale ? text : named(locale, () => Intl.DateTimeFormat.supportedLocalesOf(text)[0])
  },
}

/** A country by its code of ISO 3166-1. */
export const country: SettingFormat<string> = pattern('the code of a country such as GB', /^([A-Z]{2})$/, (code) =>
  regionNames.of(code) === undefined ? undefined : code,
)
const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** A name as `read` normalises it. `read` returns nothing or throws RangeError for an unknown name. */
function named(format: SettingFormat<string>, read: () => string | undefined): string {
  let name: string | undefined
  try {
    name = read()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  if (name === undefined) throw mismatch(format)
  return name
}

/** The public URL, converted to its origin, without a slash at the end. */
export const origin: SettingFormat<string> = {
  expects: 'an address without a path such as https://tollgate.example.com',
  parse(text) {
    const url = parseUrl(text, ['http:', 'https:'])
    if (url === undefined || url.pathname !== '/' || /[?#]/.test(text)) throw mismatch(origin)
    return url.origin
  },
}

/** The base URL of an HTTP service, without a slash at the end. */
export const endpoint: SettingFormat<string> = {
  expects: 'an address such as https://models.example.com/v1',
  parse(text) {
    if (parseUrl(text, ['http:', 'https:']) === undefined || /[?#]/.test(text)) throw mismatch(endpoint)
    return text.replace(/\/+$/, '')
  },
}

/** A host of images, with its port unless that is the usual one. */
export const fetchHost: SettingFormat<string> = {
  expects: 'a host such as images.example.com or images.example.com:8443',
  parse(text) {
    const url = /^[^\s/@?#\\]+$/.test(text) ? URL.parse(`https://${text}`) : null
    if (url === null || url.hostname === '') throw mismatch(fetchHost)
    return url.host
  },
}

/** An OpenID issuer. Not normalised, because issuers are compared byte by byte. RFC 8414 forbids query and fragment. */
export const issuer: SettingFormat<string> = secure('an address such as https://login.example.com')

/** The URL of the SMS gateway. */
export const gateway: SettingFormat<string> = secure('an address such as https://sms.example.com/send')

/** `embedded`, or the URL of a PostgreSQL database. */
export const database: SettingFormat<string> = {
  expects: 'embedded, or an address such as postgres://user:password@host:5432/name',
  parse(text) {
    if (text === 'embedded') return text
    const url = parseAddress(text, ['postgres:', 'postgresql:'])
    if (url === undefined) throw mismatch(database)
    const unknown = [...url.searchParams.keys()].find((name) => /^s+l/i.test(name) && !tlsParameters.has(name))
    if (unknown === undefined) return text
    const shown = /^\w{1,40}$/.test(unknown) ? ` ${unknown}` : ''
    throw new RangeError(`has an unknown parameter${shown}: those of TLS are ${[...tlsParameters].join(', ')}`)
  },
}

/** The driver ignores unknown parameters, and would connect without TLS if one of these were misspelt. */
const tlsParameters: ReadonlySet<string> = new Set([
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
])

/** Where the files of documents are kept. */
export type DocumentStore =
  | { readonly kind: 'database' }
  | { readonly kind: 'folder'; readonly folder: string }
  /** `prefix` is empty or ends with a slash. */
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string }

/** A path has a slash, so that a misspelt `database` is none. */
export const documentStore: SettingFormat<DocumentStore> = {
  expects: 'database, a folder such as /var/lib/tollgate/documents, or a bucket such as s3://name or s3://name/prefix',
  parse(text) {
    if (text === 'database') return { kind: 'database' }
    const [, bucket, prefix] =
      /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}){0,10})\/?$/.exec(text) ?? []
    if (bucket !== undefined) return { kind: 'bucket', bucket, prefix: prefix ? `${prefix.slice(1)}/` : '' }
    if (!/^[^\0:]*\/[^\0:]*$/.test(text)) throw mismatch(documentStore)
    return { kind: 'folder', folder: text }
  },
}

/** The region of a bucket. */
export const region: SettingFormat<string> = pattern(
  'a region such as eu-central-1',
  /^([a-z0-9-]{1,50})$/,
  (name) => name,
)

/** The URL of the mail server. */
export const mailServer: SettingFormat<string> = {
  expects: 'an address such as smtp://user:password@mail.example.com:587 or smtps://…',
  parse(text) {
    const url = parseAddress(text, ['smtp:', 'smtps:'])
    if (url === undefined || url.hostname === '') throw mismatch(mailServer)
    return text
  },
}

/** The sender of mail: an address, perhaps with a name. */
export const sender: SettingFormat<string> = pattern(
  'an address such as tollgate@example.com or Tollgate <tollgate@example.com>',
  /^((?:[^<>@"\r\n]+ <[^\s<>@]+@[^\s<>@]+>)|(?:[^\s<>@]+@[^\s<>@]+))$/,
  (text) => text,
)

/** The domain of an email address, converted to its lower-case A-label. */
export const domain: SettingFormat<string> = {
  expects: 'a domain such as example.com',
  parse(text) {
    const name =
      URL.canParse(`http://${text}`) && !/[\s/@:?#\\[\]%]/.test(text) ? new URL(`http://${text}`).hostname : ''
    if (!/^([a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{1,62}$/.test(name)) throw mismatch(domain)
    return name
  },
}

/** The pattern of the numbers of invoices: text with `{number}` or `{number:4}` once, and perhaps `{year}`. */
export const invoiceNumber: SettingFormat<string> = pattern(
  'a pattern such as INV-{year}-{number:4}: {number} once, perhaps {year}, and at most 30 letters, digits and - / . _',
  /^((?=.{1,50}$)(?=(?:[^{]|\{year\})*\{number(?::\d)?\}(?:[^{]|\{year\})*$)(?:[A-Za-z0-9/._-]|\{year\}|\{number(?::[1-9])?\})+)$/,
  (text) => (text.replaceAll(/\{.+?\}/g, '').length <= 30 ? text : undefined),
)

/** A tax rate, converted to hundredths of a per cent. */
export const taxRate: SettingFormat<number> = pattern(
  'a rate in per cent in quotes such as "19" or "8.1", at most 100, with at most two decimals',
  /^(\d{1,3})(?:\.(\d{1,2}))?$/,
  (whole, fraction = '') => {
    const rate = Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
    return rate <= 10_000 ? rate : undefined
  },
)

/** An hourly price, converted to 10⁻¹² of the currency unit. */
export const rate: SettingFormat<bigint> = {
  expects: 'a decimal number in quotes such as "180.00"',
  parse(text) {
    const value = parseDecimal(text, 6) * 1_000_000n
    if (value < 0n) throw new RangeError('must not be negative')
    if (value > 1_000_000_000n * 1_000_000_000_000n) throw new RangeError('must be at most 1000000000')
    return value
  },
}

/** A mark-up, converted to hundredths of a per cent. */
export const markup: SettingFormat<number> = pattern(
  'a mark-up in per cent in quotes such as "20" or "12.5", at most 1000, with at most two decimals',
  /^(\d{1,4})(?:\.(\d{1,2}))?$/,
  (whole, fraction = '') => {
    const hundredths = Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
    return hundredths <= 100_000 ? hundredths : undefined
  },
)

/** An IBAN, without spaces. The check digits are those of ISO 13616. */
export const iban: SettingFormat<string> = pattern(
  'an IBAN such as DE89 3704 0044 0532 0130 00',
  /^([A-Z]{2}\d{2}[A-Z0-9 ]{11,40})$/,
  (text) => {
    const compact = text.replaceAll(' ', '')
    const moved = compact.slice(4) + compact.slice(0, 4)
    const digits = moved.replaceAll(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)))
    return compact.length <= 34 && BigInt(digits) % 97n === 1n ? compact : undefined
  },
)

/** A BIC (ISO 9362). */
export const bic: SettingFormat<string> = pattern(
  'a BIC such as COBADEFFXXX',
  /^([A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)$/,
  (text) => text,
)

/** The port to listen on, from the environment. */
export const port: SettingFormat<number> = pattern('a whole number from 0 to 65535', /^(\d{1,5})$/, (text) =>
  Number(text) <= 65_535 ? Number(text) : undefined,
)

/** How many processes serve requests. */
export const processes: SettingFormat<number | 'auto'> = pattern(
  'auto or a whole number from 1 to 256',
  /^(auto|[1-9]\d{0,2})$/,
  (text) => (text === 'auto' ? text : Number(text) <= 256 ? Number(text) : undefined),
)

/** A path in the environment. */
export const filePath: SettingFormat<string> = pattern('a path', /^([^\0]+)$/, (text) => text)

/** A switch in the environment. */
export const onOff: SettingFormat<boolean> = pattern('1 or 0', /^([01])$/, (text) => text === '1')

/** Whether browsers treat it as secure: only then do they keep the session cookie and offer passkeys. */
export function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

/** Whether a host name refers to this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

function pattern<Value>(
  expects: string,
  shape: RegExp,
  read: (...parts: string[]) => Value | undefined,
): SettingFormat<Value> {
  const format: SettingFormat<Value> = {
    expects,
    parse(text) {
      const [, ...parts] = shape.exec(text) ?? []
      const value = parts.length === 0 ? undefined : read(...parts)
      if (value === undefined) throw mismatch(format)
      return value
    },
  }
  return format
}

function secure(expects: string): SettingFormat<string> {
  const format: SettingFormat<string> = {
    expects,
    parse(text) {
      const url = parseUrl(text, ['http:', 'https:'])
      if (url === undefined || /[?#]/.test(text)) throw mismatch(format)
      if (!isSecure(url)) {
        throw new RangeError('must begin with https://; http:// is accepted on loopback addresses only')
      }
      return text
    },
  }
  return format
}

/** Refuses user and password, which have settings of their own. */
function parseUrl(text: string, schemes: readonly string[]): URL | undefined {
  const url = parseAddress(text, schemes)
  return url?.username === '' && url.password === '' ? url : undefined
}

/** `new URL` alone would silently drop line breaks and spaces. */
function parseAddress(text: string, schemes: readonly string[]): URL | undefined {
  if (/[\s\p{Cc}]/u.test(text) || !/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return schemes.includes(url.protocol) ? url : undefined
}

function within(value: number, most: number): number | undefined {
  return value > 0 && value <= most ? value : undefined
}

function mismatch(format: SettingFormat<unknown>): RangeError {
  return new RangeError(`must be ${format.expects}`)
}
