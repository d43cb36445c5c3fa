import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import sparticuz from '@sparticuz/chromium'
import { chromium, type Browser } from 'playwright-core'
import { withFileLock } from '../../src/platform/system/file-lock.ts'

const cache = path.join(import.meta.dirname, '../../node_modules/.cache')
const folder = path.join(cache, 'chromium')

/**
 * Replaces the package's arguments. Those are for servers that render one page at a time, and they turn off web security,
 * which would hide faults of CORS, CORP and mixed content. These draw on the processor, the same on every machine, and let
 * pages of one profile share a process, which saves starting one for each.
 */
const flags = ['--disable-gpu', '--font-render-hinting=none', '--process-per-site']

/** Starts Chromium from the npm package, with that package's fonts, so that pages look alike on every machine. */
export async function startChromium(): Promise<Browser> {
  await mkdir(cache, { recursive: true })
  await withFileLock(path.join(cache, 'chromium-lock'), unpack, { patience: 600_000 })
  return launch(3)
}

/**
 * While Chromium starts, one of its threads sets environment variables and another one reads some: in some starts, it ends with
 * SIGSEGV in getenv().
 */
async function launch(attempts: number): Promise<Browser> {
  try {
    return await chromium.launch({
      executablePath: path.join(folder, 'chromium'),
      args: [...flags, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
      env: { ...environment(), FONTCONFIG_PATH: path.join(folder, 'fonts') },
    })
  } catch (error) {
    if (attempts > 1 && String(error).includes('signal=SIGSEGV')) return launch(attempts - 1)
    throw error
  }
}

/** What Node alone reads is left out. */
function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name === 'NODE_COMPILE_CACHE' ? [] : [[name, value]],
    ),
  )
}

/** Unpacks the browser once. An interrupted attempt leaves only the `-partial` folder, which the next one replaces. */
async function unpack(): Promise<void> {
  if (existsSync(folder)) return
  const partial = `${folder}-partial`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial)
  // The package unpacks to the temporary folder.
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
