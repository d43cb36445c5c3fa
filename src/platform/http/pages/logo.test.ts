import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import {
  extendedWebpOf,
  gifOf,
  jpegOf,
  losslessWebpOf,
  lossyWebpOf,
  pngOf,
} from '../../../../tests/support/sample-files.ts'
import { startService, upstreamModel } from '../../../../tests/support/service.ts'
import { loadConfig } from '../../config/config.ts'
import { checkLogo } from './logo.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-logo-'))
after(() => rmSync(folder, { recursive: true }))

/** Loads a configuration whose logo has this content. */
function load(name: string, content?: Buffer | string) {
  const file = path.join(folder, 'tollgate.yaml')
  writeFileSync(file, `firm: { logo: ${name} }`)
  if (content !== undefined) writeFileSync(path.join(folder, name), content)
  return loadConfig({ environment: { TOLLGATE_CONFIG: file }, root: folder, resolvedRules: [checkLogo] })
}

test('a logo is an image without scripts, of at most 256 KiB, beside the configuration file', () => {
  const images = [pngOf(90, 30), jpegOf(90, 30), lossyWebpOf(90, 30), losslessWebpOf(90, 30), extendedWebpOf(90, 30)]
  const { length: size } = pngOf(90, 30)
  for (const image of [...images, pngOf(90, 30, Buffer.alloc(256 * 1024 - size - 12))]) {
    assert.equal(load('logo', image).firm.logo, path.join(folder, 'logo'))
  }
})

test('another file is an error that names the setting and the file', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  const { length: size } = pngOf(90, 30)
  const cases: readonly (readonly [RegExp, string, (Buffer | string)?])[] = [
    [/PNG, JPEG or WebP image, and \S+logo\.png is none$/, 'logo.png', svg],
    [/PNG, JPEG or WebP image, and \S+ is none$/, 'logo.png', gifOf(90, 30)],
    [/PNG, JPEG or WebP image, and \S+ is none$/, 'logo.png', ''],
    [/at most 256 KiB, and \S+ has 262145 bytes$/, 'logo.png', pngOf(90, 30, Buffer.alloc(256 * 1024 + 1 - size - 12))],
    [/\S+missing\.png cannot be read \(ENOENT\)$/, 'missing.png'],
    [/is no file$/, '.'],
  ]
  for (const [expected, name, content] of cases) {
    assert.throws(
      () => load(name, content),
      ({ message }: Error) => message.startsWith('firm.logo: must be') && expected.test(message),
    )
  }
})

test('the sign-in page names the logo, and it is served as an image that runs nothing', async () => {
  const image = pngOf(90, 30)
  writeFileSync(path.join(folder, 'logo.png'), image)
  await using service = await startService({
    models: [upstreamModel('http://127.0.0.1:9/v1')],
    firm: { name: 'Penhallow & Partners', logo: path.join(folder, 'logo.png') },
  })
  const page = await fetch(`${service.url}/signin`, { headers: { accept: 'text/html' } })
  const [url = ''] = /\/assets\/logo-[0-9a-f]{16}\.png/.exec(await page.text()) ?? []
  const served = await fetch(service.url + url)
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), image)
  assert.deepEqual(
    ['content-type', 'x-content-type-options', 'content-encoding'].map((name) => served.headers.get(name)),
    ['image/png', 'nosniff', null],
  )
  assert.match(served.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
})
