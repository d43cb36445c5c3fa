import { parentPort } from 'node:worker_threads'
import { isWriteOrder, type WriteOrder, type WriteTask, type Written } from './protocol.ts'

/** A thread that writes files, for `writing-thread.ts`. It loads each library when it is first needed. */
async function write({ id, task, isCheck }: WriteOrder): Promise<Written> {
  const missing = await missingIn(task)
  if (isCheck || missing.length > 0) return { id, missing }
  return { id, bytes: await fileOf(task) }
}

/** The characters that no font has. Word and browsers have fonts of their own. */
async function missingIn(task: WriteTask): Promise<readonly string[]> {
  if ('invoice' in task) return (await import('./invoice-pdf.ts')).missingInInvoice(task.invoice)
  return task.format === 'pdf' ? (await import('./pdf.ts')).missingCharacters(task.letter) : []
}

async function fileOf(task: WriteTask): Promise<Uint8Array> {
  if ('invoice' in task) return (await import('./invoice-pdf.ts')).writeInvoicePdf(task.invoice)
  switch (task.format) {
    case 'pdf':
      return (await import('./pdf.ts')).writePdf(task.letter)
    case 'docx':
      return (await import('./word.ts')).writeWord(task.letter)
    case 'html':
      return Buffer.from((await import('./print-page.ts')).writePrintPage(task.letter))
  }
}

function send(message: Written): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}

parentPort?.on('message', (order: unknown) => {
  if (!isWriteOrder(order)) return
  write(order).then(send, (error: unknown) => send({ id: order.id, fault: String(error) }))
})
