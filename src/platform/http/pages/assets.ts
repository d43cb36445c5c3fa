import { randomBytes, randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import type { Server } from '../server.ts'
import { Problem } from '../../problems.ts'

/**
 * The scripts and styles of the pages, by name, in memory: pages that are open during a rebuild still find the files of
 * their own build (docs/decisions/0010-code-of-our-own.md).
 */
export type Assets = ReadonlyMap<string, Asset>

export interface Asset {
  readonly type: string
  /** The preferred coding comes first. */
  readonly bodies: ReadonlyMap<Coding, Buffer>
}

type Coding = 'br' | 'gzip' | 'identity'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads the files with a known extension, each with its compressed copies. */
export function readAssets(folder: string): Assets {
  const names = readdirSync(folder)
  const codings: readonly (readonly [Coding, string])[] = [
    ['br', '.br'],
    ['gzip', '.gz'],
    ['identity', ''],
  ]
  return new Map(
    names.flatMap((name) => {
      const type = types[path.extname(name)]
      const copies = codings.filter(([, extension]) => names.includes(name + extension))
      const bodies = new Map(
        copies.map(([coding, extension]) => [coding, readFileSync(path.join(folder, name + extension))]),
      )
      return type === undefined ? [] : [[name, { type, bodies }] as const]
    }),
  )
}

/** Serves the files at /assets. Their names contain a hash of the content, so browsers may cache them permanently. */
export function registerAssets(server: Server, assets: Assets): void {
  server.jsonOnlyUrls.add('/assets')
  server.get<{ Params: { name: string } }>('/assets/:name', { schema: { hide: true } }, async (request, reply) => {
    const asset = assets.get(request.params.name)
    if (!asset) throw new Problem('not_found', 'This file is from another version. Reload the page.')
    return sendAsset(request, reply.header('cache-control', permanently), asset)
  })
}

/** The Cache-Control of files whose URL changes with their content. */
export const permanently = 'public, max-age=31536000, immutable'

/** Responds with the body in the best coding that the request accepts. */
export function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  const coding = preferredCoding(request.headers['accept-encoding'], [...asset.bodies.keys()])
  reply.header('vary', 'Accept-Encoding').type(asset.type)
  if (coding !== 'identity') reply.header('content-encoding', coding)
  return reply.send(asset.bodies.get(coding))
}

/** Responds with a page of its own for each request, compressed outside this thread if the request accepts it. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, html: string): FastifyReply {
  const coding = preferredCoding(request.headers['accept-encoding'], ['br', 'gzip', 'identity'])
  reply.header('vary', 'Accept, Accept-Encoding').type('text/html; charset=utf-8')
  if (coding === 'identity') return reply.send(html)
  const send = (error: Error | null, body: Buffer): void =>
    void (error ? reply.send(error) : reply.header('content-encoding', coding).send(body))
  const padded = html + padding()
  if (coding === 'br') brotliCompress(padded, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }, send)
  else gzip(padded, send)
  return reply
}

/**
 * A comment of random length. Without it, the length of a compressed page could tell whether a query that someone made a
 * person's browser send occurs in their data (BREACH).
 */
function padding(): string {
  return `<!--${randomBytes(randomInt(1, 100)).toString('base64url')}-->`
}

/** Compresses a text that is not a file of a build. */
export function compressedAsset(type: string, text: string): Asset {
  const identity = Buffer.from(text)
  const br = brotliCompressSync(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } })
  return {
    type,
    bodies: new Map([
      ['br', br],
      ['gzip', gzipSync(identity)],
      ['identity', identity],
    ]),
  }
}

/** RFC 9110 section 12.5.3. Of several acceptable codings, the first available one. */
function preferredCoding(accept = '', available: Coding[]): Coding {
  const accepted = new Negotiator({ headers: { 'accept-encoding': accept } }).encodings(available)
  return available.find((coding) => accepted.includes(coding)) ?? 'identity'
}
