import { Worker } from 'node:worker_threads'
import type { Actor } from '../access/actor.ts'
import { Problem } from '../platform/problems.ts'
import type { FileFormat, LetterDocument } from './document.ts'
import { createFairQueue } from './fair-queue.ts'
import type { InvoicePaper } from './invoice-paper.ts'
import {
  isWritten,
  type CheckTask,
  type WriteOrder,
  type WriteTask,
  type WriteWork,
  type WrittenFile,
} from './protocol.ts'

/**
 * Writes letters and invoices to files in a separate thread, one after the other, so that no other request waits for a
 * long one. The first file starts the thread. Invoices come first, and the people who want letters take turns. Methods throw
 * Problem `conflict` for characters that PDF files cannot show and for a document that takes too long, and `overloaded` if too many
 * documents wait.
 */
export interface WritingThread {
  write(by: Actor, format: FileFormat, letter: LetterDocument): Promise<Uint8Array>
  writeInvoice(invoice: InvoicePaper): Promise<Uint8Array>
  /** The characters that a PDF could not show. */
  missingIn(task: CheckTask): Promise<readonly string[]>
  close(): Promise<void>
}

/** `patience`: ms for one file, after which the thread is ended. `waiting`: files that wait for the thread. */
const defaults = { patience: 60_000, waiting: 50 }

/** Letters of one person that wait. */
const mostLetters = 5

export function createWritingThread({ patience, waiting }: Partial<typeof defaults> = {}): WritingThread {
  const most = { ...defaults, ...(patience !== undefined && { patience }), ...(waiting !== undefined && { waiting }) }
  let worker: Worker | undefined
  let lastId = 0
  const queue = createFairQueue()

  function start(): Worker {
    const started = new Worker(new URL('writing-worker.ts', import.meta.url))
    started.on('error', () => undefined)
    started.on('exit', () => {
      if (worker === started) worker = undefined
    })
    return started
  }

  async function order(work: WriteWork): Promise<WrittenFile> {
    const thread = (worker ??= start())
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<WrittenFile>()
    const receive = (message: unknown) => {
      if (isWritten(message) && message.id === id) resolve(message)
    }
    const end = () => reject(new Error('the thread that writes files ended'))
    const timer = setTimeout(() => {
      reject(tooLong(work.task))
      worker = undefined
      void thread.terminate()
    }, most.patience)
    thread.on('message', receive).on('exit', end).ref()
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      thread.postMessage({ id, ...work } satisfies WriteOrder)
      return await promise
    } finally {
      clearTimeout(timer)
      // A process with nothing else to do may end.
      thread.off('message', receive).off('exit', end).unref()
    }
  }

  async function send(by: string, work: WriteWork): Promise<WrittenFile> {
    if (queue.waiting >= most.waiting || queue.waitingOf(by) >= mostLetters) throw busy()
    return queue.add(by, () => order(work), { urgent: work.isCheck || 'invoice' in work.task })
  }

  async function write(by: string, task: WriteTask): Promise<Uint8Array> {
    const written = await send(by, { task, isCheck: false })
    if ('bytes' in written) return written.bytes
    if ('missing' in written) throw cannotShow(task, written.missing)
    throw new Error(`the file could not be written: ${written.fault}`)
  }

  return Object.freeze<WritingThread>({
    write: (by, format, letter) => write(by.kind === 'person' ? by.id : by.kind, { format, letter }),
    async missingIn(task) {
      const written = await send('', { task, isCheck: true })
      if ('missing' in written) return written.missing
      throw new Error('the characters of a file could not be checked')
    },
    writeInvoice: (invoice) => write('', { format: 'pdf', invoice }),
    async close() {
      await worker?.terminate()
    },
  })
}

/** Texts of characters that the font of letters and invoices has, for which no font needs to be opened. */
export const commonCharacters = /^[\n\x20-\x7e\u00a0-\u017f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac]*$/

const mostNamed = 5

/** Some characters that no font has, for a sentence. */
export function namedCharacters(missing: readonly string[]): string {
  return `${missing.slice(0, mostNamed).join(' ')}${missing.length > mostNamed ? ' and others' : ''}`
}

function cannotShow(task: WriteTask, missing: readonly string[]): Problem {
  const [what, instead] =
    'letter' in task ? ['letter', 'Download it for Word, or print it.'] : ['invoice', 'Print its page instead.']
  return new Problem(
    'conflict',
    `A PDF of this ${what} cannot show ${namedCharacters(missing)}: no font has them. ${instead}`,
  )
}

function tooLong(task: CheckTask): Problem {
  return new Problem(
    'conflict',
    'letter' in task
      ? 'The letter takes too long to lay out: make it shorter, or split it.'
      : 'The invoice takes too long to lay out: print its page instead.',
  )
}

function busy(): Problem {
  return new Problem('overloaded', 'Too many files are being written. Try again.', { retryAfter: 5 })
}
