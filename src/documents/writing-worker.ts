import { parentPort } from 'node:worker_threads'
import type { LetterDocument } from './document.ts'
import type { InvoicePaper } from './invoice-paper.ts'
import { isWriteOrder, type WriteOrder, type WriteTask, type Written } from './protocol.ts'

/** A thread that writes files, for `writing-thread.ts`. It loads each library when it is first needed. */
async function write({ id, task }: WriteOrder): Promise<Written> {
  const file = await fileOf(task)
  return Array.isArray(file) ? { id, missing: file } : { id, bytes: file }
}

/** The file, or the characters that its fonts lack. */
async function fileOf(task: WriteTask): Promise<Uint8Array | string[]> {
  if ('invoice' in task) return invoicePdf(task.invoice)
  switch (task.format) {
    case 'pdf':
      return letterPdf(task.letter)
    case 'docx': {
      const { writeWord } = await import('./word.ts')
      return writeWord(task.letter)
    }
    case 'html': {
      const { writePrintPage } = await import('./print-page.ts')
      return Buffer.from(writePrintPage(task.letter))
    }
  }
}

async function letterPdf(letter: LetterDocument): Promise<Uint8Array | string[]> {
  const { missingCharacters, writePdf } = await import('./pdf.ts')
  const missing = missingCharacters(letter)
  return missing.length > 0 ? missing : writePdf(letter)
}

async function invoicePdf(invoice: InvoicePaper): Promise<Uint8Array | string[]> {
  const { missingInInvoice, writeInvoicePdf } = await import('./invoice-pdf.ts')
  const missing = missingInInvoice(invoice)
  return missing.length > 0 ? missing : writeInvoicePdf(invoice)
}

function send(message: Written): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}

parentPort?.on('message', (order: unknown) => {
  if (!isWriteOrder(order)) return
  write(order).then(send, (error: unknown) => send({ id: order.id, fault: String(error) }))
})
