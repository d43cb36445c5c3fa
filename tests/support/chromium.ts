import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import sparticuz from '@sparticuz/chromium'
import { chromium, type Browser } from 'playwright-core'
import { withFileLock } from '../../src/platform/system/file-lock.ts'

const cache = path.join(import.meta.dirname, '../../node_modules/.cache')
const folder = path.join(cache, 'chromium')

/** The package is for servers that run one page at a time; a browser with several tabs wants processes. */
const unwanted = /^--(?:single-process|no-zygote|font-render-hinting|window-size|start-maximized)\b/

/** Starts Chromium from the npm package, with the fonts that come with it, so that pages look alike on every machine. */
export async function startChromium(): Promise<Browser> {
  await mkdir(cache, { recursive: true })
  await withFileLock(path.join(cache, 'chromium-lock'), unpack)
  return chromium.launch({
    executablePath: path.join(folder, 'chromium'),
    args: [
      ...sparticuz.args.filter((each) => !unwanted.test(each)),
      '--font-render-hinting=none',
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    env: { ...environment(), FONTCONFIG_PATH: path.join(folder, 'fonts') },
  })
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Unpacks it once. What an interrupted attempt has left is never taken for the whole. */
async function unpack(): Promise<void> {
  if (existsSync(folder)) return
  const partial = `${folder}-partial`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial)
  // The package unpacks to wherever temporary files go.
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = partial
  await sparticuz.executablePath()
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
  await writeFile(path.join(partial, 'fonts/fonts.conf'), fontsConfiguration)
  await rename(partial, folder)
}

const fontsConfiguration = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${path.join(folder, 'fonts')}</dir><cachedir>${path.join(folder, 'fonts-cache')}</cachedir></fontconfig>
`
