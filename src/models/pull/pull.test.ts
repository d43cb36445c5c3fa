import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createPlainServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import path from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { createCertificate } from '../../../tests/support/certificate.ts'
import { tinyFile } from '../../../tests/support/engine.ts'
import { OperatorError } from '../../platform/problems.ts'
import { parseModelSource, pullModel, type Progress, type PullNeeds } from './pull.ts'
import { asOrdinaryUser } from '../../../tests/support/ordinary-user.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'
import { listen } from '../../../tests/support/server.ts'

const root = temporaryFolder()
const model = await readFile(tinyFile)
const sha256 = createHash('sha256').update(model).digest('hex')
const servers: Server[] = []
after(async () => {
  for (const server of servers) server.close().closeAllConnections()
})

let folder = root
let file = root
beforeEach(async () => {
  folder = await mkdtemp(path.join(root, 'case-'))
  file = path.join(folder, 'models', 'm.gguf')
})

/** Serves a file with `answer`. Returns its URL and the headers of the requests. */
async function serve(answer: RequestListener, server: Server = createPlainServer()) {
  const asked: IncomingMessage['headers'][] = []
  server.on('request', (request, response) => {
    asked.push(request.headers)
    answer(request, response)
  })
  servers.push(server)
  const port = await listen(server)
  return { asked, port, url: `http://127.0.0.1:${port}/m.gguf` }
}

function pull(url: string, changes: Partial<PullNeeds> = {}) {
  return pullModel({ source: parseModelSource(url), file, onProgress: () => {}, pause: 1, ...changes })
}

/** Serves `bytes` correctly, with ranges if If-Range names this version. */
function good(bytes: Buffer, etag = '"v1"'): RequestListener {
  return ({ headers }, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    const isRange = start > 0 && headers['if-range'] === etag
    response.writeHead(isRange ? 206 : 200, {
      etag,
      'content-length': isRange ? bytes.length - start : bytes.length,
      ...(isRange && { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    })
    response.end(isRange ? bytes.subarray(start) : bytes)
  }
}

/** Announces all of `bytes` and cuts the connection after the first `length` of them. */
function breaking(bytes: Buffer, length: number, headers: Record<string, string> = { etag: '"v1"' }): RequestListener {
  return (_, response) => {
    response.writeHead(200, { ...headers, 'content-length': bytes.length })
    response.write(bytes.subarray(0, length), () => setTimeout(() => response.destroy(), 20))
  }
}

/** Uses the next of `answers` for each request, and the last for all further requests. */
function inTurn(...answers: readonly RequestListener[]): RequestListener {
  let turn = -1
  return (request, response) => {
    turn = Math.min(turn + 1, answers.length - 1)
    answers[turn]?.(request, response)
  }
}

const refusal = (reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof OperatorError, String(error))
  assert.match(error.message, reason)
  assert.doesNotMatch(error.message, /\n/)
  return true
}

/** Asserts that the folder contains only these files. */
async function assertLeft(...names: readonly string[]): Promise<void> {
  assert.deepEqual((await readdir(path.dirname(file))).toSorted(), names.toSorted())
}

const unfinished = ['m.gguf.part', 'm.gguf.part.json']

describe('a download', () => {
  test('renames the file when it is complete, and reports its progress', async () => {
    const { url } = await serve(good(model))
    const seen: Progress[] = []
    const pulled = await pull(url, { onProgress: (progress) => seen.push(progress) })
    assert.deepEqual([pulled.bytes, pulled.sha256, pulled.comparedWith], [model.length, sha256, null])
    assert.equal(pulled.model.architecture, 'llama')
    assert.ok(model.equals(await readFile(file)))
    await assertLeft('m.gguf')
    assert.deepEqual(seen[0], { received: 0, total: model.length })
    assert.deepEqual(seen.at(-1), { received: model.length, total: model.length })
  })

  test('of unknown length ends with the last chunk', async () => {
    const { url } = await serve((_, response) => void response.end(model))
    assert.equal((await pull(url)).sha256, sha256)
  })

  test('resumes by itself after a lost connection and requests only the rest', async () => {
    const { url, asked } = await serve(inTurn(breaking(model, 3_000_000), good(model)))
    assert.equal((await pull(url)).sha256, sha256)
    assert.equal(asked.length, 2)
    assert.deepEqual([asked[0]?.range, asked[0]?.['if-range']], [undefined, undefined])
    assert.match(asked[1]?.range ?? '', /^bytes=[1-9]\d*-$/)
    assert.equal(asked[1]?.['if-range'], '"v1"')
    assert.equal(asked[1]?.['accept-encoding'], 'identity')
  })

  test('is resumed by the next run after one that gave up', async () => {
    const { url, asked } = await serve(
      inTurn(
        breaking(model, 3_000_000),
        (_, response) => void response.writeHead(503).end(),
        ...Array.from({ length: 4 }, () => (_: unknown, response: { destroy(): void }) => response.destroy()),
        good(model),
      ),
    )
    await assert.rejects(pull(url), refusal(/keeps breaking off.*resumes after \d{6,7} bytes/))
    await assertLeft(...unfinished)
    assert.equal((await pull(url)).sha256, sha256)
    assert.match(asked.at(-1)?.range ?? '', /^bytes=[1-9]\d{5,6}-$/)
    await assertLeft('m.gguf')
  })

  test('restarts if the server ignores the range', async () => {
    const whole: RequestListener = (_, response) =>
      void response.writeHead(200, { 'content-length': model.length }).end(model)
    const { url } = await serve(inTurn(breaking(model, 3_000_000), whole))
    assert.equal((await pull(url)).sha256, sha256)
  })

  test('restarts if the file has changed, whether or not the server supports If-Range', async () => {
    const old = Buffer.concat([model.subarray(0, 2_000_000), Buffer.alloc(model.length)])
    const { url } = await serve(inTurn(breaking(old, 3_000_000), good(model, '"v2"')))
    assert.equal((await pull(url)).sha256, sha256)
    await rm(file)
    const blind: RequestListener = (request, response) =>
      good(model, '"v2"')(Object.assign(request, { headers: { ...request.headers, 'if-range': '"v2"' } }), response)
    const { url: other } = await serve(inTurn(breaking(old, 3_000_000), blind))
    assert.equal((await pull(other)).sha256, sha256)
  })

  test('is not resumed if versions cannot be distinguished', async () => {
    const weak = breaking(model, 3_000_000, { etag: 'W/"v1"' })
    const { url, asked } = await serve(inTurn(weak, good(model)))
    assert.equal((await pull(url)).sha256, sha256)
    assert.equal(asked[1]?.range, undefined)
  })

  test('is not resumed from another URL', async () => {
    const { url } = await serve((_, response) => void response.destroy())
    const other = await serve(good(model))
    await mkdir(path.dirname(file))
    await writeFile(`${file}.part`, model.subarray(0, 5000))
    await writeFile(`${file}.part.json`, JSON.stringify({ address: url, validator: '"v1"' }))
    assert.equal((await pull(other.url)).sha256, sha256)
    assert.equal(other.asked[0]?.range, undefined)
  })

  test('that was already complete is only checked', async () => {
    const { url } = await serve(
      (_, response) => void response.writeHead(416, { 'content-range': `bytes */${model.length}` }).end(),
    )
    await mkdir(path.dirname(file))
    await writeFile(`${file}.part`, model)
    await writeFile(`${file}.part.json`, JSON.stringify({ address: url, validator: '"v1"' }))
    assert.equal((await pull(url)).sha256, sha256)
  })
})

describe('the checksum', () => {
  test('is compared, whether given or announced', async () => {
    const { url } = await serve(good(model))
    assert.equal((await pull(url, { sha256 })).comparedWith, 'given')
    await rm(file)
    const { url: linked } = await serve((request, response) => {
      response.setHeader('x-linked-etag', `"${sha256}"`).setHeader('x-linked-size', model.length)
      good(model)(request, response)
    })
    assert.equal((await pull(linked)).comparedWith, 'announced')
  })

  test('that does not match leaves no file', async () => {
    const { url } = await serve(good(model))
    await assert.rejects(pull(url, { sha256: '0'.repeat(64) }), refusal(/SHA-256 [0-9a-f]{64} instead of 0{64}/))
    await assertLeft()
    const damaged = Buffer.from(model)
    damaged[5_000_000] = (damaged[5_000_000] ?? 0) ^ 1
    const { url: linked } = await serve((_, response) => {
      response.writeHead(200, { 'x-linked-etag': `"${sha256}"`, 'content-length': damaged.length }).end(damaged)
    })
    await assert.rejects(pull(linked), refusal(new RegExp(`instead of ${sha256}`)))
    await assertLeft()
  })
})

/** Redirects to another URL. */
function to(location: string, headers: Record<string, string> = {}): RequestListener {
  return (_, response) => void response.writeHead(302, { ...headers, location }).end()
}

describe('a redirect', () => {
  const secure = createCertificate()
  test("is followed, without credentials to another host, and the first host's checksum counts", async () => {
    const storage = await serve(good(model))
    const first = await serve(to(`http://localhost:${storage.port}/x?signed=1`, { 'x-linked-etag': `"${sha256}"` }))
    const source = parseModelSource(first.url, 'hf_secret')
    assert.equal((await pull(first.url, { source })).comparedWith, 'announced')
    assert.equal(first.asked[0]?.authorization, 'Bearer hf_secret')
    assert.equal(storage.asked[0]?.authorization, undefined)
  })

  test('to the same host keeps the credentials', async () => {
    const host = await serve(inTurn(to('/there/m.gguf'), good(model)))
    await pull(host.url.replace('//', '//name:word@'))
    assert.deepEqual(
      host.asked.map(({ authorization }) => authorization),
      Array.from({ length: 2 }, () => `Basic ${btoa('name:word')}`),
    )
  })

  test('from https to http is refused, even on this machine', async () => {
    const plain = await serve(good(model))
    const { port } = await serve(to(plain.url), createSecureServer(secure))
    await assert.rejects(pull(`https://localhost:${port}/m.gguf`, { authority: secure.cert }), refusal(/without https/))
    assert.equal(plain.asked.length, 0)
    await assertLeft()
  })

  test('to another machine without https, to an invalid URL, or in a loop is refused', async () => {
    const { url } = await serve(to('http://192.0.2.1/m.gguf'))
    await assert.rejects(pull(url), refusal(/without https/))
    const { url: nowhere } = await serve(to('http://'))
    await assert.rejects(pull(nowhere), refusal(/without https/))
    const { url: circle, asked } = await serve(to('/again.gguf'))
    await assert.rejects(pull(circle), refusal(/redirects the download too often/))
    assert.equal(asked.length, 6)
  })

  test('over https is followed; an untrusted certificate is refused', async () => {
    const { port } = await serve(inTurn(to('/there.gguf'), good(model)), createSecureServer(secure))
    await assert.rejects(
      pull(`https://localhost:${port}/m.gguf`),
      refusal(/certificate of localhost:\d+ is not trusted/),
    )
    assert.equal((await pull(`https://localhost:${port}/m.gguf`, { authority: secure.cert })).sha256, sha256)
  })
})

describe('a failed download is refused in one line and leaves no file under the final name', () => {
  test('an error status', async () => {
    const cases: [number, RegExp][] = [
      [404, /has no such file \(404\)/],
      [401, /\(401\).*--token-file/],
      [403, /\(403\).*--token-file/],
      [400, /status 400 instead of the file/],
      [503, /keeps breaking off/],
    ]
    for (const [status, reason] of cases) {
      const { url } = await serve((_, response) => void response.writeHead(status).end('GGUF'))
      await assert.rejects(pull(url), refusal(reason))
      await assertLeft()
    }
  })

  test('a file that is not GGUF, at its first bytes', async () => {
    const cut = Promise.withResolvers<boolean>()
    const { url } = await serve((_, response) => {
      response.on('close', () => cut.resolve(!response.writableFinished))
      response.writeHead(200, { 'content-length': 50_000_000 })
      response.write('<!doctype html>')
    })
    await assert.rejects(pull(url), refusal(/is not a GGUF file/))
    assert.equal(await cut.promise, true)
  })

  test('a GGUF file that llama.cpp cannot load', async () => {
    const { url } = await serve(good(model.subarray(0, 4_000_000)))
    await assert.rejects(pull(url), refusal(/^The model file m\.gguf is cut off.*was removed/))
    await assertLeft()
  })

  test('less than announced, even if the response ends cleanly', async () => {
    const { url, asked } = await serve((_, response) => {
      response.setHeader('x-linked-size', model.length + 1).write(model)
      response.end()
    })
    await assert.rejects(pull(url), refusal(/keeps breaking off.*starts again/))
    assert.equal(asked.length, 6)
    await assertLeft('m.gguf.part')
  })

  test('more than announced, or another length', async () => {
    const { url } = await serve((_, response) => void response.writeHead(200, { 'x-linked-size': '1000' }).end(model))
    await assert.rejects(pull(url), refusal(/sends more than the 1000 bytes/))
    const { url: other } = await serve(
      (_, response) =>
        void response.writeHead(200, { 'x-linked-size': '1000', 'content-length': model.length }).end(model),
    )
    await assert.rejects(pull(other), refusal(/announced a file of 1000 bytes but sends/))
  })

  test('a full disk, before anything is written', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 10 ** 14 })
      response.write(model)
    })
    await assert.rejects(pull(url), refusal(/lacks \d+ bytes/))
    await assertLeft()
  })

  test('a folder without write permission', async () => {
    const { url } = await serve(good(model))
    await chmod(folder, 0o555)
    await assert.rejects(
      asOrdinaryUser(() => pull(url)),
      refusal(/No permission to write/),
    )
  })

  test('an unreachable host', async () => {
    const gone = createPlainServer()
    const { url } = await serve(good(model), gone)
    gone.close()
    await once(gone, 'close')
    await assert.rejects(pull(url), refusal(/127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/))
    await assert.rejects(pull('https://nowhere.invalid/m.gguf'), refusal(/nowhere\.invalid cannot be reached/))
  })

  test('an existing file, which is left untouched', async () => {
    await mkdir(path.dirname(file))
    await writeFile(file, 'mine')
    const { url, asked } = await serve(good(model))
    await assert.rejects(pull(url), refusal(/already/))
    assert.equal(await readFile(file, 'utf8'), 'mine')
    assert.equal(asked.length, 0)
  })

  test('a second download of the same file', async () => {
    const { url, asked } = await serve(good(model))
    const outcomes = await Promise.allSettled([pull(url), pull(url)])
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    assert.equal(asked.length, 1)
    assert.ok(model.equals(await readFile(file)))
    await assertLeft('m.gguf')
  })
})

test('a source is the URL of a GGUF file over a protected connection', () => {
  const { url, fileName } = parseModelSource('hf:owner/re-po_1/model.q4_0.gguf')
  assert.deepEqual(
    [url.href, fileName],
    ['https://huggingface.co/owner/re-po_1/resolve/main/model.q4_0.gguf', 'model.q4_0.gguf'],
  )
  assert.equal(parseModelSource('hf:o/r@v1.0/deep/m.gguf').url.pathname, '/o/r/resolve/v1.0/deep/m.gguf')
  const secret = parseModelSource('https://me:p%40ss@example.com/a/m.gguf?download=true#x')
  assert.equal(secret.url.href, 'https://example.com/a/m.gguf?download=true')
  assert.equal(secret.authorization, `Basic ${btoa('me:p@ss')}`)
  for (const wrong of [
    '',
    'm.gguf',
    '/m.gguf',
    'hf:owner/m.gguf',
    'hf:owner/repository/model.bin',
    'hf:owner/repository',
    'http://example.com/m.gguf',
    'ftp://example.com/m.gguf',
    'https://example.com/',
    'https://example.com/m.zip',
    'https://example.com/%2e%2e%2fm.gguf',
    'https://example.com/..%5Cm.gguf',
    'https://example.com/%ff.gguf',
    'https://example.com/.gguf',
  ])
    assert.throws(() => parseModelSource(wrong), RangeError, wrong)
})
