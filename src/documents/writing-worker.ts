import { parentPort } from 'node:worker_threads'
import { isWriteOrder, type WriteOrder, type Written } from './protocol.ts'

/** A thread that writes files, for `writing-thread.ts`. It loads each library when it is first needed. */
async function write({ id, format, letter }: WriteOrder): Promise<Written> {
  switch (format) {
    case 'pdf': {
      const { missingCharacters, writePdf } = await import('./pdf.ts')
      const missing = missingCharacters(letter)
      return missing.length > 0 ? { id, missing } : { id, bytes: await writePdf(letter) }
    }
    case 'docx': {
      const { writeWord } = await import('./word.ts')
      return { id, bytes: await writeWord(letter) }
    }
    case 'html': {
      const { writePrintPage } = await import('./print-page.ts')
      return { id, bytes: Buffer.from(writePrintPage(letter)) }
    }
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
