import { codeOf, violates } from '../platform/database/failure.ts'
import { Problem } from '../platform/problems.ts'
import type { InvoiceOutcome } from './changes-store.ts'
import { presentInvoice } from './present.ts'
import type { StoredInvoice } from './stored.ts'

/** Why a change of an invoice was refused. */
export function invoiceRefusal(outcome: InvoiceOutcome | undefined, current: StoredInvoice): Problem {
  switch (outcome) {
    case 'stale':
      return staleInvoice(current)
    case 'was_issued':
      return new Problem('conflict', 'The invoice is issued and cannot be changed: correct it with a credit note.')
    case 'was_void':
      return new Problem('conflict', 'The invoice is void.')
    case 'empty':
      return new Problem('conflict', 'The draft has no lines: add one before you issue it.')
    case 'archived':
      return archivedClient()
    case 'exceeds':
      return new Problem('conflict', 'This credit note would exceed the amount of its invoice.')
    case 'credited_since':
      return new Problem(
        'conflict',
        'The invoice was credited after this draft was created, which changes the rounding: void the draft and create another.',
      )
    default:
      return new Problem('conflict', 'The invoice has changed in the meantime: read it again.')
  }
}

export function staleInvoice(current: StoredInvoice): Problem {
  return new Problem(
    'stale_version',
    'This invoice has changed since you read it. Compare your change with the current version, then send it again.',
    { current: presentInvoice(current) },
  )
}

/**
 * Throws an error that is not about a number that is in use. Two patterns can make the same number: `F{number}` its eleventh, and
 * `F1{number}` its first.
 */
export function numberInUse(error: unknown, kind: 'invoice' | 'credit_note'): Problem {
  if (!violates(error, 'invoice_number_key')) throw error
  const setting = kind === 'invoice' ? 'invoicing.number' : 'invoicing.credit_note_number'
  return new Problem('conflict', `A number of this form was used before: set ${setting} to another pattern.`, {
    cause: error,
  })
}

export function archivedClient(): Problem {
  return new Problem('conflict', 'The client is archived or deleted: restore it before you bill it.')
}

export function nothingUnbilled(): Problem {
  return new Problem('conflict', 'This client has nothing unbilled up to that day.', { field: 'unbilled_until' })
}

const marks = ['billed_entry_pkey', 'billed_letters_pkey']

/** Whether a draft was refused because another invoice bills the same, or because an entry is not what it was. */
export function isBilledMeanwhile(error: unknown): boolean {
  return codeOf(error) === 'TG006' || marks.some((mark) => violates(error, mark))
}

export function changedMeanwhile(cause: unknown): Problem {
  return new Problem('conflict', 'The entries of this client are being changed or billed: try again.', { cause })
}
