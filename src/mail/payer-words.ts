/** The words of a mail to a payer, which a partner may change before it is sent. */
export interface PayerWords {
  readonly subject: string
  readonly message: string
}

/** What a mail to a payer is about. Amounts and days are as the firm writes them. */
interface Billed {
  readonly firm: string
  readonly number: string
  readonly issued: string
  readonly due: string
}

/** The firm's words for an invoice or a credit note. `credits` is the number of the invoice that a credit note corrects. */
export function invoiceMailWords({
  firm,
  number,
  issued,
  due,
  gross,
  isPaid,
  credits,
}: Billed & { readonly gross: string; readonly isPaid: boolean; readonly credits: string | null }): PayerWords {
  if (credits !== null) {
    return {
      subject: `Credit note ${number} – ${firm}`,
      message: paragraphs(
        `Attached is our credit note ${number} of ${issued} for ${gross}. It corrects our invoice ${credits}.`,
        closing(firm),
      ),
    }
  }
  return {
    subject: `Invoice ${number} – ${firm}`,
    message: paragraphs(
      `Attached is our invoice ${number} of ${issued} for ${gross}.`,
      isPaid ? 'It has been paid. Thank you.' : `Please pay it by ${due}, quoting its number as the reference.`,
      closing(firm),
    ),
  }
}

export function reminderMailWords({ firm, number, issued, due, open }: Billed & { readonly open: string }): PayerWords {
  return {
    subject: `Reminder: invoice ${number} – ${firm}`,
    message: paragraphs(
      `Our invoice ${number} of ${issued} was due on ${due}, and ${open} of it is still open. A copy is attached.`,
      'If you have paid it in the meantime, please ignore this reminder.',
      closing(firm),
    ),
  }
}

const paragraphs = (...texts: readonly string[]): string => ['Hello,', ...texts].join('\n\n')
const closing = (firm: string): string => `Kind regards,\n${firm}`
