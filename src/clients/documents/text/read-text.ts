import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { textLimits } from './limits.ts'
import { readers, type TextPage } from './readers.ts'

/** Why the text of a file is not there. `none`: files of this type have none, or this one is empty. */
export type Unread = 'none' | 'protected' | 'damaged' | 'too_much'

export interface ReadLimits {
  /** In ms. */
  readonly time: number
  /** In bytes, of the whole process. */
  readonly memory: number
}

const readLimits: ReadLimits = { time: 60_000, memory: 1024 ** 3 }

const program = path.join(import.meta.dirname, 'reader-process.ts')
const root = path.join(import.meta.dirname, '../../../..')

/** The program and its libraries, and nothing else: neither the data folder with the encryption key nor the configuration. */
const permissions = [
  '--permission',
  '--allow-worker',
  ...['src', 'node_modules', 'package.json'].map((name) => `--allow-fs-read=${path.join(root, name)}`),
]

/** Whether a file of this type may have a text. */
export const hasText = (type: string): boolean => Object.hasOwn(readers, type)

/**
 * Reads the text of a file in a process of its own, page by page. A file that takes too much time or memory ends that process and nothing else.
 */
export async function readText(
  type: string,
  bytes: AsyncIterable<Uint8Array>,
  { time, memory }: ReadLimits = readLimits,
): Promise<readonly TextPage[] | Unread> {
  const heap = `--max-old-space-size=${Math.round(memory / 2 / 1024 ** 2)}`
  const child = spawn(process.execPath, ['--no-warnings', ...permissions, heap, program, type, String(memory)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    timeout: time,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code))
  })
  try {
    const [pages, code] = await Promise.all([
      pagesFrom(child.stdout),
      ended,
      // It may end before it has read all.
      pipeline(Readable.from(bytes), child.stdin).catch(() => undefined),
    ])
    switch (code) {
      case 0:
        return pages.some(({ text }) => /\S/.test(text)) ? pages : 'none'
      case 2:
        return 'damaged'
      case 3:
        return 'protected'
      default:
        return 'too_much'
    }
  } finally {
    child.kill('SIGKILL')
  }
}

/** More than the process ever writes, by far. */
const mostOutput = 8 * textLimits.characters

async function pagesFrom(output: Readable): Promise<TextPage[]> {
  const pages: TextPage[] = []
  let written = 0
  output.on('data', (chunk: Buffer) => {
    written += chunk.length
    if (written > mostOutput) output.destroy()
  })
  for await (const line of createInterface({ input: output })) {
    const page = parsed(line)
    if (page) pages.push(page)
  }
  return pages
}

/** The process may end within a line. */
function parsed(line: string): TextPage | undefined {
  try {
    const page: unknown = JSON.parse(line)
    return typeof page === 'object' && page !== null && 'label' in page && 'text' in page
      ? { label: String(page.label), text: String(page.text) }
      : undefined
  } catch {
    return undefined
  }
}
