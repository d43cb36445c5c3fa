import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, describe, it } from 'node:test'
import { pngOf } from '../../../tests/support/sample-files.ts'
import { serve } from '../../../tests/support/server.ts'
import { filesOf, type FilePart } from '../../models/conversation.ts'
import { createFinder, type FindAddresses } from '../../platform/network/networks.ts'
import { readImageUrl } from '../dialects/files.ts'
import type { TextRequest } from '../request.ts'
import { createImageFetcher } from './image-fetcher.ts'

const png = pngOf(20, 10)
const asked: string[] = []
const send = (response: ServerResponse, type: string, body: Buffer | string, status = 200) =>
  response.writeHead(status, { 'content-type': type }).end(body)
const large = Buffer.alloc(6 * 1024 ** 2)
/** What the server of the images answers, by path. */
const answers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  '/a.png': (response) => send(response, 'Image/PNG; charset=binary', png),
  '/text': (response) => send(response, 'text/html', '<p>'),
  '/wrong': (response) => send(response, 'image/jpeg', png),
  '/large': (response) => send(response, 'image/png', large),
  '/missing': (response) => send(response, 'image/png', png, 404),
  '/moved': (response) => response.writeHead(302, { location: '/a.png' }).end(),
  '/cut': (response) => response.writeHead(200, { 'content-length': 999 }).write('x', () => response.destroy()),
  '/never': () => {},
}
const server = await serve(({ url = '', headers }, response) => {
  asked.push(url)
  assert.equal(headers.authorization ?? headers.cookie, undefined)
  answers[url]?.(response)
})
after(() => server.close())

const { host } = new URL(server.url)
const open = (needs: Partial<Parameters<typeof createImageFetcher>[0]> = {}) =>
  createImageFetcher({ hosts: new Set([host]), find: createFinder(['127.0.0.0/8']), fileBytes: 10_000, ...needs })
const requestOf = (...parts: readonly FilePart[]): TextRequest => ({
  model: 'm',
  prompt: { messages: [{ role: 'user', parts }] },
  stream: false,
  maxOutputTokens: 1,
  names: { maxOutputTokens: 'max_tokens', input: 'messages' },
})
const imageAt = (path: string, origin = server.url): FilePart => readImageUrl(origin + path, 'place')
const { signal } = new AbortController()

const hanging: FindAddresses = () => new Promise(() => {})

describe('images by URL', () => {
  it('are as if they had been in the request', async () => {
    const marks = { cache: {}, detail: 'low' } as const
    const { prompt } = await open().fetch(requestOf({ ...imageAt('/a.png'), ...marks }, imageAt('/a.png')), signal)
    const image = { kind: 'file', mediaType: 'image/png', data: png.toString('base64'), field: 'place' }
    const extent = { width: 20, height: 10 }
    assert.deepEqual(filesOf(prompt.messages), [
      { ...image, extent, ...marks },
      { ...image, extent },
    ])
  })

  const refused: Readonly<Record<string, RegExp>> = {
    '/text': /of type image\/png/,
    '/wrong': /a complete JPEG/,
    '/large': /it has more than 5 MiB/,
    '/missing': /its server answered 404/,
    '/moved': /its server answered 302/,
    '/cut': /its server cannot be reached/,
  }
  for (const [path, reason] of Object.entries(refused)) {
    it(`are refused by name, without their address: ${path}`, async () => {
      await assert.rejects(open().fetch(requestOf(imageAt(path)), signal), (error: Error) => {
        assert.match(error.message, /^The field place must be /)
        assert.match(error.message, reason)
        assert.ok(!error.message.includes(host))
        return true
      })
    })
  }

  it('are not asked for where the operator has not listed the host and its port, or the network is not public', async () => {
    asked.length = 0
    const refusedAs = async (fetcher: ReturnType<typeof open>, image: FilePart, reason: RegExp) =>
      assert.rejects(fetcher.fetch(requestOf(image), signal), reason)
    await refusedAs(open({ hosts: new Set(['127.0.0.1', 'example.com']) }), imageAt('/a.png'), /nothing is fetched/)
    await refusedAs(open({ find: createFinder([]) }), imageAt('/a.png'), /not public/)
    assert.deepEqual(asked, [])
  })

  it('are asked for at the address that was checked, whatever the name has meanwhile', async () => {
    const origin = `http://localhost:${new URL(server.url).port}`
    const at = (...addresses: readonly string[]) =>
      open({
        hosts: new Set([new URL(origin).host]),
        find: async () => addresses.map((address) => ({ address, family: 4 })),
      }).fetch(requestOf(imageAt('/a.png', origin)), signal)
    await at('127.0.0.1')
    await assert.rejects(at('127.0.0.2'), /its server cannot be reached/)
    await assert.rejects(at(), /its host is not known/)
  })

  it('have at most the bytes of all files together', async () => {
    const one = png.toString('base64').length
    const two = requestOf(imageAt('/a.png'), imageAt('/a.png'))
    await open({ fileBytes: 2 * one }).fetch(two, signal)
    await assert.rejects(open({ fileBytes: 2 * one - 1 }).fetch(two, signal), /all files of a request have at most/)
  })

  it('are not waited for too long, nor after their caller has left', async () => {
    const never = requestOf(imageAt('/never'))
    await assert.rejects(open({ patience: 20 }).fetch(never, signal), /its server did not answer in time/)
    await assert.rejects(open({ patience: 20, find: hanging }).fetch(never, signal), /did not answer in time/)
    const caller = new AbortController()
    const waiting = open().fetch(never, caller.signal)
    caller.abort()
    await assert.rejects(waiting, { code: 'malformed_request' })
  })
})
