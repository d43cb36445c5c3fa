import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { serve } from './server.ts'

const credentials = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const region = 'eu-central-1'

/** A server with one bucket, `files`, addressed by path. It checks the signature of each request and the digest of its body, as S3 does. */
export async function startBucketServer() {
  const objects = new Map<string, Buffer>()
  const requests: string[] = []
  let failure: ((response: ServerResponse) => void) | undefined

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    requests.push(`${request.method} ${request.url}`)
    if (failure) return failure(response)
    const fault = faultOf(request, body)
    if (fault) return refuse(response, 403, fault)
    const [, bucket, ...name] = (request.url ?? '').split('/')
    const key = name.join('/')
    if (bucket !== 'files') return refuse(response, 404, 'NoSuchBucket')
    const object = objects.get(key)
    switch (request.method) {
      case 'PUT':
        objects.set(key, body)
        response.end()
        return
      case 'DELETE':
        objects.delete(key)
        response.writeHead(204).end()
        return
      default:
        if (object) response.end(object)
        else refuse(response, 404, 'NoSuchKey')
    }
  }

  const server = await serve((request, response) => void answer(request, response))
  return {
    ...server,
    /** By name. */
    objects,
    requests,
    settings: { endpoint: server.url, region, ...credentials, path_style: true },
    /** Answers every request so from now on. */
    fail: (how: ((response: ServerResponse) => void) | undefined) => {
      failure = how
    },
  }
}

export function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No.</Message></Error>`)
}

/** The error code of S3 for a request that is not signed as AWS Signature Version 4 requires. */
function faultOf({ method, url = '', headers }: IncomingMessage, body: Buffer): string | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=(?<id>[^/]+)\/(?<scope>\S+), SignedHeaders=(?<names>\S+), Signature=(?<signature>[0-9a-f]{64})$/
  const { id, scope = '', names = '', signature } = pattern.exec(headers.authorization ?? '')?.groups ?? {}
  if (signature === undefined) return 'AccessDenied'
  if (id !== credentials.access_key_id) return 'InvalidAccessKeyId'
  const time = String(headers['x-amz-date'])
  if (scope !== `${time.slice(0, 8)}/${region}/s3/aws4_request`) return 'AuthorizationHeaderMalformed'
  const digest = sha256(body)
  if (headers['x-amz-content-sha256'] !== digest) return 'XAmzContentSHA256Mismatch'
  const signed = names.split(';')
  if (['host', 'x-amz-content-sha256', 'x-amz-date'].some((name) => !signed.includes(name))) return 'AccessDenied'
  const values = signed.map((name) => `${name}:${String(headers[name])}\n`)
  const canonical = [method, url, '', values.join(''), names, digest].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = scope
    .split('/')
    .reduce((secret: string | Buffer, part) => hmac(secret, part), `AWS4${credentials.secret_access_key}`)
  return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
