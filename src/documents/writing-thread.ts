import { Worker } from 'node:worker_threads'
import { Problem } from '../platform/problems.ts'
import type { FileFormat, LetterDocument } from './document.ts'
import { isWritten, type Written } from './protocol.ts'

/**
 * Writes letters to files in a separate thread, one after the other, so that no other request waits for a long letter.
 * The first file starts the thread.
 */
export interface WritingThread {
  /**
   * Throws Problem `conflict` for characters that PDF files cannot show and for a letter that takes too long, and
   * `overloaded` if too many letters wait.
   */
  write(format: FileFormat, letter: LetterDocument): Promise<Uint8Array>
  close(): Promise<void>
}

/** `patience`: ms for one file, after which the thread is ended. `waiting`: files that wait for the thread. */
const defaults = { patience: 60_000, waiting: 50 }

export function createWritingThread({ patience, waiting }: Partial<typeof defaults> = {}): WritingThread {
  const most = { ...defaults, ...(patience !== undefined && { patience }), ...(waiting !== undefined && { waiting }) }
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()
  let lastId = 0
  let pending = 0

  function start(): Worker {
    const started = new Worker(new URL('writing-worker.ts', import.meta.url))
    started.on('error', () => undefined)
    started.on('exit', () => {
      if (worker === started) worker = undefined
    })
    return started
  }

  async function order(format: FileFormat, letter: LetterDocument): Promise<Written> {
    const thread = (worker ??= start())
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<Written>()
    const receive = (message: unknown) => {
      if (isWritten(message) && message.id === id) resolve(message)
    }
    const end = () => reject(new Error('the thread that writes files ended'))
    const timer = setTimeout(() => {
      reject(tooLong())
      worker = undefined
      void thread.terminate()
    }, most.patience)
    thread.on('message', receive).on('exit', end).ref()
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      thread.postMessage({ id, format, letter })
      return await promise
    } finally {
      clearTimeout(timer)
      // A process with nothing else to do may end.
      thread.off('message', receive).off('exit', end).unref()
    }
  }

  async function write(format: FileFormat, letter: LetterDocument): Promise<Uint8Array> {
    if (pending >= most.waiting) throw busy()
    pending += 1
    const turn = last.then(() => order(format, letter))
    last = turn.catch(() => undefined).finally(() => (pending -= 1))
    const written = await turn
    if ('bytes' in written) return written.bytes
    if ('missing' in written) throw cannotShow(written.missing)
    throw new Error(`the file could not be written: ${written.fault}`)
  }

  return Object.freeze({
    write,
    async close() {
      await worker?.terminate()
    },
  })
}

const mostNamed = 5

function cannotShow(missing: readonly string[]): Problem {
  const named = missing.slice(0, mostNamed).join(' ')
  return new Problem(
    'conflict',
    `A PDF of this letter cannot show ${named}${missing.length > mostNamed ? ' and others' : ''}: its fonts have Latin, Greek and Cyrillic letters. Download it for Word, or print it.`,
  )
}

function tooLong(): Problem {
  return new Problem('conflict', 'The letter takes too long to lay out: make it shorter, or split it.')
}

function busy(): Problem {
  return new Problem('overloaded', 'Too many letters are being written to files. Try again.', { retryAfter: 5 })
}
