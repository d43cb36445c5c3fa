import type { FileFormat, LetterDocument } from './document.ts'
import type { InvoicePaper } from './invoice-paper.ts'

/** What the thread writes to a file: a letter, or an invoice as PDF. */
export type WriteTask =
  | { readonly format: FileFormat; readonly letter: LetterDocument }
  | { readonly format: 'pdf'; readonly invoice: InvoicePaper }

/** What the thread checks for characters that no font has: a file before it is written, or texts that will be in several. */
export type CheckTask = WriteTask | { readonly texts: readonly string[] }

export type WriteWork =
  | { readonly task: WriteTask; readonly isCheck: false }
  | { readonly task: CheckTask; readonly isCheck: true }

export type WriteOrder = { readonly id: number } & WriteWork

/** What the thread answers: the file, or the characters that no font has, or why it failed. */
export type WrittenFile = { readonly id: number } & (
  | { readonly bytes: Uint8Array }
  | { readonly missing: readonly string[] }
  | { readonly fault: string }
)

// Both ends are of one program, so the order and the answer need no deep checks.

export function isWriteOrder(message: unknown): message is WriteOrder {
  return typeof message === 'object' && message !== null && 'task' in message
}

export function isWritten(message: unknown): message is WrittenFile {
  return typeof message === 'object' && message !== null && 'id' in message
}
