import { spawn, type ChildProcessByStdio } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { textLimits } from '../limits.ts'
import { permissions } from './permissions.ts'
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

/** Whether a file of this type may have a text. */
export const hasText = (type: string): boolean => Object.hasOwn(readers, type)

export interface ReadOptions {
  readonly limits?: ReadLimits
  /** Ends the process. */
  readonly signal?: AbortSignal
}

/**
 * Reads the text of a file in a process of its own, page by page. A file that takes too much time or memory ends that process and nothing
 * else. Throws what `bytes` throws, the error of an aborted `signal`, and an error if the process fails without a limit as the reason.
 */
export async function readText(
  type: string,
  bytes: AsyncIterable<Uint8Array>,
  { limits: { time, memory } = readLimits, signal }: ReadOptions = {},
): Promise<readonly TextPage[] | Unread> {
  const heap = `--max-old-space-size=${Math.round(memory / 2 / 1024 ** 2)}`
  const limits = [memory, time, process.pid].map(String)
  const child = spawn(process.execPath, ['--no-warnings', ...permissions, heap, program, type, ...limits], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    timeout: time,
    killSignal: 'SIGKILL',
    signal,
  })
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, ending) => resolve(code ?? ending))
  })
  try {
    const [pages, code] = await Promise.all([pagesFrom(child), ended, feed(child.stdin, bytes)])
    switch (code) {
      case 0:
        if (pages === undefined) throw new Error('the process that reads files wrote something else than pages')
        return pages.some(({ text }) => /\S/.test(text)) ? pages : 'none'
      case 2:
        return 'damaged'
      case 3:
        return 'protected'
      case 'SIGINT':
      case 'SIGTERM':
      case 'SIGHUP':
        throw new Error(`the process that reads files was ended by ${code}`)
      case 'SIGKILL':
      case 'SIGABRT':
      case 'SIGTRAP':
      case null:
        return 'too_much'
      default:
        throw new Error(`the process that reads files ended with ${code}`)
    }
  } finally {
    child.kill('SIGKILL')
  }
}

/** Rejects if the source fails. The process may end before it has read all. */
async function feed(input: Writable, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  let isCut = false
  async function* source() {
    try {
      yield* bytes
    } catch (error) {
      isCut = true
      throw error
    }
  }
  await pipeline(source, input).catch((error: unknown) => {
    if (isCut) throw error
  })
}

/** More than the process ever writes, by far. */
const mostOutput = 8 * textLimits.characters

/** The pages that the process writes, one on each line. Undefined if a line is not a page, for instance because the process ended while it wrote it. */
async function pagesFrom(child: ChildProcessByStdio<Writable, Readable, null>): Promise<TextPage[] | undefined> {
  const pages: (TextPage | undefined)[] = []
  let written = 0
  child.stdout.on('data', (chunk: Buffer) => {
    written += chunk.length
    if (written > mostOutput) child.kill('SIGKILL')
  })
  for await (const line of createInterface({ input: child.stdout })) pages.push(parsed(line))
  return pages.every((page) => page !== undefined) ? pages : undefined
}

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
