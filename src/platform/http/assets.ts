import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Server } from './http.ts'
import { Problem } from '../problems.ts'

/** The scripts and styles of the pages, by name, as they were when the server started: a new build cannot tear them. */
export type Assets = ReadonlyMap<string, Asset>

interface Asset {
  readonly type: string
  /** What is sent, by the coding that the client takes. */
  readonly bodies: ReadonlyMap<Coding, Buffer>
}

type Coding = 'br' | 'gzip' | 'identity'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads every file of a build that has a type of ours, with its compressed copies. */
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

/** Serves them at /assets. Their names are hashes of what they hold, so that browsers keep them for good. */
export function registerAssets(server: Server, assets: Assets): void {
  server.get<{ Params: { name: string } }>('/assets/:name', { schema: { hide: true } }, async (request, reply) => {
    const asset = assets.get(request.params.name)
    if (!asset) throw new Problem('not_found', 'This file is of another version. Load the page again.')
    const taken = request.headers['accept-encoding'] ?? ''
    const [coding, body] = [...asset.bodies].find(([each]) => accepts(taken, each)) ?? []
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' }).type(asset.type)
    return coding === 'identity' ? reply.send(body) : reply.header('content-encoding', coding).send(body)
  })
}

/** RFC 9110 section 12.5.3, for clients that name what they take. */
function accepts(taken: string, coding: Coding): boolean {
  return (
    coding === 'identity' ||
    new RegExp(`(?:^|[, ])${coding}(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))\\s*(?:[,;]|$)`, 'i').test(taken)
  )
}
