import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { filesOf, type FilePart, type Prompt } from '../../models/conversation.ts'
import { ForbiddenNetwork, only, type FindAddresses } from '../../platform/network/networks.ts'
import { Problem } from '../../platform/problems.ts'
import { mustBe } from '../dialects/body.ts'
import { mostImageBytes, readBase64, readMediaType, withFiles, withPages } from '../dialects/files.ts'
import type { TextRequest } from '../request.ts'

/** Fetches images that requests have by their URLs. Every method throws Problem `invalid_field`, which never quotes a URL. */
export interface ImageFetcher {
  /** Refuses images of hosts that the operator has not listed. */
  check(prompt: Prompt): void
  /** The request with its images. All of them together take no longer than the patience. */
  fetch(request: TextRequest, signal: AbortSignal): Promise<TextRequest>
}

/** A request whose images are fetched, and whose pages are counted. Throws Problem. */
export async function readFiles(
  request: TextRequest,
  images: Pick<ImageFetcher, 'fetch'> | undefined,
  signal: AbortSignal,
): Promise<TextRequest> {
  const isFetched = filesOf(request.prompt.messages).every(({ url }) => url === undefined)
  if (isFetched || !images) return withPages(request)
  return withPages(await images.fetch(request, signal))
}

interface FetcherNeeds {
  /** The hosts that may be asked, each with its port unless that is the usual one. */
  readonly hosts: ReadonlySet<string>
  /** The addresses that may be asked, as for webhooks. */
  readonly find: FindAddresses
  /** The most bytes of all images and documents of a request, in base64. */
  readonly fileBytes: number
  /** ms for all images of a request. Default 10 000. */
  readonly patience?: number
}

export function createImageFetcher({ hosts, find, fileBytes, patience = 10_000 }: FetcherNeeds): ImageFetcher {
  function check({ messages }: Prompt): void {
    const other = filesOf(messages).find(({ url }) => url !== undefined && !hosts.has(new URL(url).host))
    if (!other) return
    throw mustBe(other.field, 'a data URL with the image itself: nothing is fetched from this host')
  }

  return Object.freeze<ImageFetcher>({
    check,
    async fetch(request, caller) {
      const { prompt } = request
      check(prompt)
      const signal = AbortSignal.any([caller, AbortSignal.timeout(patience)])
      const files = filesOf(prompt.messages)
      let room = fileBytes - files.reduce((sum, { data }) => sum + data.length, 0)
      const fetched = new Map<FilePart, FilePart>()
      // One after the other: the room that is left bounds what is in memory.
      for (const file of files) {
        if (file.url === undefined) continue
        const image = await fetchImage(file, file.url, { find, signal }).catch((error: unknown) => {
          throw caller.aborted ? disconnected() : error
        })
        room -= image.data.length
        if (room < 0) throw mustBe(file.field, `left out: all files of a request have at most ${fileBytes} bytes`)
        fetched.set(file, image)
      }
      return {
        ...request,
        prompt: { ...prompt, messages: withFiles(prompt.messages, (file) => fetched.get(file) ?? file) },
      }
    },
  })
}

const disconnected = (): Problem =>
  new Problem('malformed_request', 'The caller disconnected before its images were fetched.')

interface Bounds {
  readonly find: FindAddresses
  readonly signal: AbortSignal
}

async function fetchImage(file: FilePart, address: string, bounds: Bounds): Promise<FilePart> {
  const { url: _, field, ...rest } = file
  const answer = await ask(new URL(address), bounds).catch((error: unknown) => {
    const reason = error instanceof Unfetched ? error.message : reasonOf(error, bounds)
    throw mustBe(field, `the URL of an image that can be fetched: ${reason}`)
  })
  const mediaType = readMediaType(answer.type, field, 'image')
  return { ...rest, ...readBase64(answer.bytes.toString('base64'), mediaType, field, 'image') }
}

/** Why there is no image, in the words of an error. */
class Unfetched extends Error {}

function reasonOf(error: unknown, { signal }: Bounds): string {
  if (error instanceof ForbiddenNetwork) return 'its host has an address that is not public'
  return signal.aborted ? 'its server did not answer in time' : 'its server cannot be reached'
}

interface Answer {
  readonly type: string
  readonly bytes: Buffer
}

/** Follows no redirects: they could lead to a host that is not listed. */
async function ask(url: URL, { find, signal }: Bounds): Promise<Answer> {
  signal.throwIfAborted()
  const [found] = await Promise.race([find(url.hostname), aborted(signal)])
  if (found === undefined) throw new Unfetched('its host is not known')
  const reply = await get(url, { agent: false, headers: headersOfImages, lookup: only(found), signal })
  try {
    if (reply.statusCode !== 200) throw new Unfetched(`its server answered ${reply.statusCode}`)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of reply.iterator({ destroyOnReturn: true })) {
      if (!Buffer.isBuffer(chunk)) continue
      size += chunk.length
      if (size > mostImageBytes) throw new Unfetched(`it has more than ${mostImageBytes / 1024 ** 2} MiB`)
      chunks.push(chunk)
    }
    const [type = ''] = (reply.headers['content-type'] ?? '').split(';')
    return { type: type.trim().toLowerCase(), bytes: Buffer.concat(chunks) }
  } finally {
    reply.destroy()
  }
}

const headersOfImages = { accept: 'image/png, image/jpeg, image/gif, image/webp', 'user-agent': 'Tollgate' }

async function get(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  // On demand, as for webhooks.
  const begin = url.protocol === 'https:' ? requestHttps : (await import('node:http')).request
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent: ClientRequest = begin(url, options, resolve)
  sent.on('error', reject).end()
  return promise
}

function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
  return promise
}
