import { parentPort } from 'node:worker_threads'
import { isWriteOrder, type CheckTask, type WriteOrder, type WriteTask, type WrittenFile } from './protocol.ts'

/** A thread that writes files, for `writing-thread.ts`. It loads each library when it is first needed. */
async function write(order: WriteOrder): Promise<WrittenFile> {
  const { id } = order
  const missing = await missingIn(order.task)
  if (order.isCheck || missing.length > 0) return { id, missing }
  return { id, bytes: await fileOf(order.task) }
}

/** The characters that no font has. Word and browsers have fonts of their own. */
async function missingIn(task: CheckTask): Promise<readonly string[]> {
  if ('texts' in task) return (await import('./pdf/pdf-text.ts')).charactersWithoutFont(task.texts)
  if ('invoice' in task) return (await import('./pdf/invoice-pdf.ts')).missingInInvoice(task.invoice)
  return task.format === 'pdf' ? (await import('./pdf/pdf.ts')).missingCharacters(task.letter) : []
}

async function fileOf(task: WriteTask): Promise<Uint8Array> {
  if ('invoice' in task) return (await import('./pdf/invoice-pdf.ts')).writeInvoicePdf(task.invoice)
  switch (task.format) {
    case 'pdf':
      return (await import('./pdf/pdf.ts')).writePdf(task.letter)
    case 'docx':
      return (await import('./word.ts')).writeWord(task.letter)
    case 'html':
      return Buffer.from((await import('./print/print-page.ts')).writePrintPage(task.letter))
  }
}

function send(message: WrittenFile): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}

parentPort?.on('message', (order: unknown) => {
  if (!isWriteOrder(order)) return
  write(order).then(send, (error: unknown) => send({ id: order.id, fault: String(error) }))
})
