import type { LetterReview } from '../src/clients/letters/review/schema.ts'
import type { MailState } from '../src/mail/sent-mails.ts'
import type { ContactLanguage, InvoiceLanguage } from '../src/platform/text/languages.ts'
import { numberText } from './locale.ts'

/** Labels of API values. */
export const roleNames = { consultant: 'Consultant', partner: 'Partner', developer: 'Developer' } as const

export const invoiceLanguageNames: Readonly<Record<InvoiceLanguage, string>> = {
  de: 'German',
  en: 'English',
  fr: 'French',
}

export const contactLanguageNames: Readonly<Record<ContactLanguage, string>> = {
  ar: 'Arabic',
  zh: 'Chinese',
  cs: 'Czech',
  da: 'Danish',
  nl: 'Dutch',
  en: 'English',
  fi: 'Finnish',
  fr: 'French',
  de: 'German',
  el: 'Greek',
  he: 'Hebrew',
  hi: 'Hindi',
  hu: 'Hungarian',
  it: 'Italian',
  ja: 'Japanese',
  ko: 'Korean',
  nb: 'Norwegian',
  fa: 'Persian',
  pl: 'Polish',
  pt: 'Portuguese',
  ro: 'Romanian',
  ru: 'Russian',
  es: 'Spanish',
  sv: 'Swedish',
  tr: 'Turkish',
  uk: 'Ukrainian',
}

export const clientStatusNames = { active: 'Active', archived: 'Archived' } as const
export const disputeStatusNames = { open: 'Open', settled: 'Settled', withdrawn: 'Withdrawn' } as const
export const taskStatusNames = { open: 'Open', done: 'Done' } as const
export const taskPriorityNames = { high: 'High', normal: 'Normal', low: 'Low' } as const
export const letterStatusNames = { draft: 'Draft', approved: 'Approved', sent: 'Sent' } as const
export const mailStateNames: Readonly<Record<MailState, string>> = {
  waiting: 'On its way',
  queued: 'On its way',
  sent: 'Sent',
  given_up: 'Not delivered',
  withdrawn: 'Not sent',
}
export const reviewStatusNames: Readonly<Record<LetterReview['status'], string>> = {
  open: 'Waiting',
  lapsed: 'Cannot be reviewed',
  returned: 'Returned',
  approved: 'Approved',
  withdrawn: 'Withdrawn',
}
export const invoiceKindNames = { invoice: 'Invoice', credit_note: 'Credit note' } as const
export const invoiceStatusNames = {
  draft: 'Draft',
  open: 'Open',
  partly_paid: 'Partly paid',
  overdue: 'Overdue',
  paid: 'Paid',
  credited: 'Credited',
  issued: 'Issued',
  void: 'Void',
} as const

/** `client_read` → `Client read`, for actions without a label. */
export function spoken(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`
}

/** A total that is exact only up to a bound: `10,000+`. */
export function totalOf({ total, total_is_exact: isExact }: { total: number; total_is_exact: boolean }): string {
  return `${numberText(total)}${isExact ? '' : '+'}`
}

/** A model in a sentence. Its id alone could be any word, such as `default`. */
export function modelText(model: string): string {
  return `the model “${model}”`
}
