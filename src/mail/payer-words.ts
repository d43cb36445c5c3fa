/** The words of a mail to a payer, which a partner may change before it is sent. */
export interface PayerWords {
  readonly subject: string
  readonly message: string
}

/** What a mail to a payer is about. Amounts and days are as the firm writes them. */
export interface BilledPayer {
  readonly firm: string
  readonly number: string
  readonly issued: string
  readonly due: string
  readonly gross: string
  readonly open: string
  /** How much of the gross amount has been paid or credited. */
  readonly settled: 'nothing' | 'part' | 'all'
  /** The number of the invoice that a credit note corrects. */
  readonly credits: string | null
}

/** The sentences of one language. */
interface Language {
  readonly greeting: string
  readonly closing: string
  readonly invoice: (billed: BilledPayer) => readonly [subject: string, ...sentences: string[]]
  readonly creditNote: (billed: BilledPayer) => readonly [subject: string, ...sentences: string[]]
  readonly reminder: (billed: BilledPayer) => readonly [subject: string, ...sentences: string[]]
}

const english: Language = {
  greeting: 'Hello,',
  closing: 'Kind regards,',
  invoice: ({ number, issued, gross, due, open, settled }) => [
    `Invoice ${number}`,
    `Attached is our invoice ${number} of ${issued} for ${gross}.`,
    {
      nothing: `Please pay it by ${due}, quoting its number as the reference.`,
      part: `Of this, ${open} is still open. Please pay that amount by ${due}, quoting the invoice number as the reference.`,
      all: 'It has been settled in full. Thank you.',
    }[settled],
  ],
  creditNote: ({ number, issued, gross, credits }) => [
    `Credit note ${number}`,
    `Attached is our credit note ${number} of ${issued} for ${gross}. It corrects our invoice ${credits}.`,
  ],
  reminder: ({ number, issued, due, open }) => [
    `Reminder: invoice ${number}`,
    `Our invoice ${number} of ${issued} was due on ${due}, and ${open} of it is still open. A copy is attached.`,
    'If you have paid it in the meantime, please ignore this reminder.',
  ],
}

const german: Language = {
  greeting: 'Guten Tag,',
  closing: 'Mit freundlichen Grüßen',
  invoice: ({ number, issued, gross, due, open, settled }) => [
    `Rechnung ${number}`,
    `anbei erhalten Sie unsere Rechnung ${number} vom ${issued} über ${gross}.`,
    {
      nothing: `Bitte überweisen Sie den Betrag bis zum ${due} und geben Sie die Rechnungsnummer als Verwendungszweck an.`,
      part: `Davon sind noch ${open} offen. Bitte überweisen Sie diesen Betrag bis zum ${due} und geben Sie die Rechnungsnummer als Verwendungszweck an.`,
      all: 'Sie ist bereits ausgeglichen. Vielen Dank.',
    }[settled],
  ],
  creditNote: ({ number, issued, gross, credits }) => [
    `Rechnungskorrektur ${number}`,
    `anbei erhalten Sie unsere Rechnungskorrektur ${number} vom ${issued} über ${gross}. Sie betrifft unsere Rechnung ${credits}.`,
  ],
  reminder: ({ number, issued, due, open }) => [
    `Zahlungserinnerung: Rechnung ${number}`,
    `unsere Rechnung ${number} vom ${issued} war am ${due} fällig. Davon sind noch ${open} offen. Eine Kopie finden Sie im Anhang.`,
    'Falls Sie inzwischen bezahlt haben, betrachten Sie diese Erinnerung bitte als gegenstandslos.',
  ],
}

const french: Language = {
  greeting: 'Bonjour,',
  closing: 'Cordialement,',
  invoice: ({ number, issued, gross, due, open, settled }) => [
    `Facture ${number}`,
    `Veuillez trouver ci-joint notre facture ${number} du ${issued} d’un montant de ${gross}.`,
    {
      nothing: `Merci de la régler au plus tard le ${due}, en indiquant son numéro comme référence.`,
      part: `Il reste ${open} à régler. Merci de payer ce montant au plus tard le ${due}, en indiquant le numéro de la facture comme référence.`,
      all: 'Elle est déjà soldée. Nous vous en remercions.',
    }[settled],
  ],
  creditNote: ({ number, issued, gross, credits }) => [
    `Avoir ${number}`,
    `Veuillez trouver ci-joint notre avoir ${number} du ${issued} d’un montant de ${gross}. Il concerne notre facture ${credits}.`,
  ],
  reminder: ({ number, issued, due, open }) => [
    `Rappel : facture ${number}`,
    `Notre facture ${number} du ${issued} était à régler au plus tard le ${due}, et ${open} restent dus. Vous en trouverez une copie ci-joint.`,
    'Si vous l’avez réglée entre-temps, merci de ne pas tenir compte de ce rappel.',
  ],
}

const languages: Readonly<Record<string, Language>> = { en: english, de: german, fr: french }

/**
 * The firm's words for an invoice, a credit note or a reminder, in the language of a locale such as `de-AT` if that is German
 * or French, else in English.
 */
export function payerWords(kind: 'invoice' | 'reminder', billed: BilledPayer, locale: string): PayerWords {
  const { greeting, closing, ...words } = languages[new Intl.Locale(locale).language] ?? english
  const write = kind === 'reminder' ? words.reminder : billed.credits === null ? words.invoice : words.creditNote
  const [subject, ...sentences] = write(billed)
  return {
    subject: `${subject} – ${billed.firm}`,
    message: [greeting, ...sentences, `${closing}\n${billed.firm}`].join('\n\n'),
  }
}
