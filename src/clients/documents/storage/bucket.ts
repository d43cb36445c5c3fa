import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { Agent, request } from 'undici'
import { codeOf } from '../../../platform/database/failure.ts'
import { marker, StoreFault, type ObjectStore } from './object-store.ts'

export interface BucketSettings {
  /** An origin without a path. */
  readonly endpoint: string
  readonly region: string
  readonly access_key_id: string
  readonly secret_access_key: string
  /** Whether the bucket is in the path of its address, instead of in the host name. */
  readonly path_style: boolean
}

interface BucketNeeds {
  readonly bucket: string
  /** Before the name of each object. Empty, or ends with a slash. */
  readonly prefix: string
  readonly settings: BucketSettings
  /** ms until an attempt is given up. Default 10 000. */
  readonly patience?: number
}

/** How often a request is sent, and the ms before it is sent again. Every request is idempotent. */
const attempts = 3
const pauses = [200, 800]

/** S3's error codes, and what the operator can do about them. */
const remedies: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'Correct documents.s3.access_key_id.',
  SignatureDoesNotMatch: 'Correct documents.s3.secret_access_key.',
  AccessDenied:
    'Allow the access key to list the bucket and to get, put and delete its objects (s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject).',
  NoSuchBucket: 'Create the bucket, or correct its name.',
  AuthorizationHeaderMalformed: 'Correct documents.s3.region.',
  PermanentRedirect: 'Correct documents.s3.region and documents.s3.endpoint.',
  RequestTimeTooSkewed: 'Synchronise the clock of this machine by NTP.',
}

interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** A bucket of a server that speaks the S3 protocol. Requests are signed by AWS Signature Version 4, their bodies included. */
export function openBucket({ bucket, prefix, settings, patience = 10_000 }: BucketNeeds): ObjectStore {
  const agent = new Agent({ connect: { timeout: patience }, headersTimeout: patience, bodyTimeout: patience })
  const root = addressOf(bucket, settings)
  const title = `the bucket ${root}`
  const keys = new Map<string, ArrayBuffer>()

  async function send(method: 'GET' | 'PUT' | 'DELETE', name: string, sent?: Buffer): Promise<Answer> {
    const signer = new AwsV4Signer({
      method,
      url: `${root}/${prefix}${name}`,
      headers: {
        'x-amz-content-sha256': createHash('sha256')
          .update(sent ?? '')
          .digest('hex'),
      },
      accessKeyId: settings.access_key_id,
      secretAccessKey: settings.secret_access_key,
      service: 's3',
      region: settings.region,
      cache: keys,
    })
    const { url, headers } = await signer.sign()
    const { statusCode, body } = await request(url, {
      method,
      dispatcher: agent,
      headers: Object.fromEntries(headers),
      body: sent ?? null,
      signal: AbortSignal.timeout(patience),
    })
    return { status: statusCode, body: Buffer.from(await body.arrayBuffer()) }
  }

  async function attempt(...sent: Parameters<typeof send>): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      try {
        const answer = await send(...sent)
        if (answer.status < 500 && answer.status !== 429) return answer
        if (tried === attempts) throw faultOf(title, answer)
      } catch (error) {
        if (error instanceof StoreFault) throw error
        // The address may have no secret, but the error of a library could name whatever was sent.
        const reason = codeOf(error) ?? (error instanceof Error ? error.name : 'unknown')
        if (tried === attempts) throw new StoreFault('away', `${title} does not answer (${reason}).`)
      }
      await wait((pauses[tried - 1] ?? 0) * (0.5 + Math.random()))
    }
  }

  /** Undefined if there is no such object. */
  async function get(name: string): Promise<Buffer | undefined> {
    const answer = await attempt('GET', name)
    if (answer.status === 200) return answer.body
    if (answer.status === 404 && codeIn(answer) !== 'NoSuchBucket') return undefined
    throw faultOf(title, answer)
  }

  async function put(name: string, bytes: Buffer): Promise<void> {
    const answer = await attempt('PUT', name, bytes)
    if (answer.status !== 200) throw faultOf(title, answer)
  }

  return Object.freeze<ObjectStore>({
    place: 'bucket',
    title,
    get,
    put,
    async remove(name) {
      const answer = await attempt('DELETE', name)
      const isGone = answer.status === 404 && codeIn(answer) !== 'NoSuchBucket'
      if (!isGone && answer.status !== 204 && answer.status !== 200) throw faultOf(title, answer)
    },
    isMarked: async () => (await get(marker.name)) !== undefined,
    mark: () => put(marker.name, Buffer.from(marker.text)),
    close: () => agent.close(),
  })
}

function addressOf(bucket: string, { endpoint, path_style }: BucketSettings): string {
  return path_style ? `${endpoint}/${bucket}` : endpoint.replace('://', `://${bucket}.`)
}

/** The error code of S3, which answers in XML. */
const codeIn = ({ body }: Answer): string | undefined =>
  /<Code>(?<code>[A-Za-z]{1,100})<\/Code>/.exec(body.toString('utf8', 0, 10_000))?.groups?.['code']

function faultOf(title: string, answer: Answer): StoreFault {
  const code = codeIn(answer)
  const remedy = code === undefined ? undefined : remedies[code]
  const kind = answer.status >= 500 || answer.status === 429 ? 'away' : 'refused'
  const reason = `${title} answers with status ${answer.status}${code === undefined ? '' : ` (${code})`}.`
  return new StoreFault(kind, remedy === undefined ? reason : `${reason} ${remedy}`)
}
