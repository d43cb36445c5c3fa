import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { ReportConfigError } from '../../config/check.ts'
import type { Config } from '../../config/config.ts'
import { codeOf } from '../../database/failure.ts'
import { OperatorError } from '../../problems.ts'
import type { Asset } from './assets.ts'

/** The firm's logo, and its name among the assets, which contains a hash of it. */
export interface Logo {
  readonly name: string
  readonly asset: Asset
}

/** In bytes: every visitor of the sign-in page loads it. */
const maxSize = 256 * 1024

/** Formats without scripts, by bytes in hex that their files begin with. */
const formats: readonly { readonly name: string; readonly begins: RegExp }[] = [
  { name: 'png', begins: /^89504e470d0a1a0a/ },
  { name: 'jpeg', begins: /^ffd8ff/ },
  // RIFF, its length, WEBP.
  { name: 'webp', begins: /^52494646.{8}57454250/ },
]

/** Throws OperatorError, which says what the file must be, unless it is an image that browsers show. */
export function readLogo(file: string): Logo {
  const body = readImage(file)
  const start = body.toString('hex', 0, 16)
  const format = formats.find(({ begins }) => begins.test(start))
  if (format === undefined) throw new OperatorError(`must be a PNG, JPEG or WebP image, and ${file} is none`)
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const asset = { type: `image/${format.name}`, bodies: new Map([['identity', body] as const]) }
  return { name: `logo-${hash}.${format.name}`, asset }
}

function readImage(file: string): Buffer {
  try {
    const stat = statSync(file)
    if (!stat.isFile()) throw new OperatorError(`must be an image, and ${file} is no file`)
    if (stat.size > maxSize)
      throw new OperatorError(`must be a file of at most 256 KiB, and ${file} has ${stat.size} bytes`)
    return readFileSync(file)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`must be an image, and ${file} cannot be read (${codeOf(error) ?? 'unknown error'})`)
  }
}

/** Reports a logo that cannot be shown. */
export function checkLogo({ firm: { logo } }: Config, report: ReportConfigError): void {
  if (logo === undefined) return
  try {
    readLogo(logo)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    report('firm.logo', error.message)
  }
}
