import { statfs } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { OperatorError } from '../../platform/problems.ts'
import type { DownloadOrigin, PartialFile } from './partial-file.ts'
import { ConnectionBroken, faultOf, refusedStatus, Unreachable } from './refusal.ts'
import { requestFile, headerText, wholeNumber, type AnnouncedDownload, type FileAnswer } from './request.ts'
import type { ModelSource } from './source.ts'

export interface Progress {
  /** Bytes received, including those of an earlier download. */
  readonly received: number
  readonly total: number | undefined
}

export interface DownloadNeeds {
  readonly source: ModelSource
  readonly part: PartialFile
  readonly dispatcher: Dispatcher
  readonly onProgress: (progress: Progress) => void
  /** Milliseconds between attempts. They double with each attempt that receives nothing. */
  readonly pause: number
}

const mostFruitless = 5
const magic = Buffer.from('GGUF')

/**
 * Downloads until the file is complete, and resumes after each break of the connection. Resolves with what the host
 * announced about the file. Throws OperatorError with what to do.
 */
export async function download(needs: DownloadNeeds): Promise<AnnouncedDownload> {
  const { source, part, pause } = needs
  let hasReceived = false
  for (let fruitless = 0; ;) {
    const before = part.size()
    try {
      return await attempt(needs)
    } catch (error) {
      const fault = faultOf(error, source.url.host, path.dirname(part.path))
      hasReceived ||= part.size() > before
      const isTemporary = fault instanceof ConnectionBroken || (fault instanceof Unreachable && hasReceived)
      if (!isTemporary) throw fault
      fruitless = part.size() > before ? 0 : fruitless + 1
      if (fruitless >= mostFruitless) throw givenUp(part, source.url.host)
      await setTimeout(pause * 2 ** Math.max(0, fruitless - 1))
    }
  }
}

function givenUp(part: PartialFile, host: string): OperatorError {
  const kept =
    part.origin() === undefined ? 'the download starts again' : `the download resumes after ${part.size()} bytes`
  return new OperatorError(`${host} keeps breaking off the download. Run the command again later: ${kept}.`)
}

/** Makes one request and stores its bytes. Throws ConnectionBroken if bytes are still missing. */
async function attempt(needs: DownloadNeeds): Promise<AnnouncedDownload> {
  const { source, part, dispatcher, onProgress } = needs
  const { href, host } = source.url
  if (part.origin()?.address !== href) await part.restart(undefined)
  const answer = await requestFile(source, rangeAfter(part), dispatcher)
  try {
    if (answer.status === 416) return await assertWhole(part, answer)
    const total = await begin(part, answer, source.url)
    const expected = expectedOf(total, answer.announced, host)
    await assertRoom(part, expected)
    onProgress({ received: part.size(), total: expected })
    await receive(needs, answer, expected)
    return answer.announced
  } finally {
    answer.body.on('error', () => {}).destroy()
  }
}

function rangeAfter(part: PartialFile): Record<string, string> {
  const origin = part.origin()
  if (part.size() === 0 || origin === undefined) return {}
  return { range: `bytes=${part.size()}-`, 'if-range': origin.validator }
}

/** Handles status 416 (RFC 9110, section 14.4): the file is complete if the lengths match, or else it is a different file. */
async function assertWhole(part: PartialFile, { headers, announced }: FileAnswer): Promise<AnnouncedDownload> {
  const whole = wholeNumber(/^bytes \*\/(\d+)$/.exec(headerText(headers['content-range']) ?? '')?.[1])
  if (whole !== undefined && whole === part.size()) return announced
  await part.restart(undefined)
  throw new ConnectionBroken('another file')
}

/** Prepares the partial file: to be resumed, or empty. Resolves with the length of the whole file. */
async function begin(part: PartialFile, { status, headers }: FileAnswer, url: URL): Promise<number | undefined> {
  if (status !== 200 && status !== 206) {
    throw refusedStatus(status, url.host) ?? new ConnectionBroken(`status ${status}`)
  }
  const origin = originOf(headers, url.href)
  if (status === 200) {
    await part.restart(origin)
    return wholeNumber(headerText(headers['content-length']))
  }
  const [, start, whole] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headerText(headers['content-range']) ?? '') ?? []
  if (Number(start) !== part.size() || (origin && origin.validator !== part.origin()?.validator)) {
    await part.restart(undefined)
    throw new ConnectionBroken('an unexpected range, or a different file')
  }
  return wholeNumber(whole)
}

/** If-Range requires a strong validator (RFC 9110, section 13.1.5). */
function originOf(headers: FileAnswer['headers'], address: string): DownloadOrigin | undefined {
  const etag = headerText(headers['etag'])
  const validator = etag?.startsWith('"') ? etag : headerText(headers['last-modified'])
  return validator === undefined ? undefined : { address, validator }
}

function expectedOf(total: number | undefined, { bytes }: AnnouncedDownload, host: string): number | undefined {
  if (total !== undefined && bytes !== undefined && total !== bytes) {
    throw new OperatorError(
      `${host} announced a file of ${bytes} bytes but sends ${total} bytes. Try again later, or choose another source.`,
    )
  }
  return total ?? bytes
}

async function assertRoom(part: PartialFile, expected: number | undefined): Promise<void> {
  const folder = path.dirname(part.path)
  const { bavail, bsize } = await statfs(folder)
  const missing = (expected ?? 0) - part.size() - bavail * bsize
  if (missing > 0) {
    throw new OperatorError(
      `The disk of ${folder} lacks ${missing} bytes for this file. Free some space, or choose another place with --to.`,
    )
  }
}

async function receive(
  { source, part, onProgress }: DownloadNeeds,
  { body }: FileAnswer,
  expected: number | undefined,
): Promise<void> {
  const { host } = source.url
  let first = part.size() === 0 ? Buffer.alloc(0) : undefined
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue
    if (first && first.length < magic.length) {
      first = Buffer.concat([first, chunk])
      assertMagic(first, host)
    }
    await part.append(chunk)
    if (expected !== undefined && part.size() > expected) throw longer(expected, host)
    onProgress({ received: part.size(), total: expected })
  }
  if (expected !== undefined && part.size() < expected) throw new ConnectionBroken('too short')
}

/** Detects other content, such as a sign-in page, by its first bytes. */
function assertMagic(first: Buffer, host: string): void {
  if (first.subarray(0, magic.length).equals(magic.subarray(0, first.length))) return
  throw new OperatorError(
    `The response of ${host} is not a GGUF file. Check that the address is that of the file itself.`,
  )
}

function longer(expected: number, host: string): OperatorError {
  return new OperatorError(`${host} sends more than the ${expected} bytes that it announced. Choose another source.`)
}
