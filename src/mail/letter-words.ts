import type { PayerWords } from './payer-words.ts'

/** What a letter's mail says by default. */
const languages: Readonly<Record<string, (subject: string, firm: string) => string>> = {
  en: (subject, firm) => `Hello,\n\nPlease find our letter “${subject}” attached.\n\nKind regards,\n${firm}`,
  de: (subject, firm) =>
    `Guten Tag,\n\nanbei erhalten Sie unser Schreiben „${subject}“.\n\nMit freundlichen Grüßen\n${firm}`,
  fr: (subject, firm) => `Bonjour,\n\nVeuillez trouver ci-joint notre lettre « ${subject} ».\n\nCordialement,\n${firm}`,
}

/** The firm's words for a letter, in the language of a locale such as `de-AT` if that is German or French, else in English. */
export function letterWords(subject: string, firm: string, locale: string): PayerWords {
  const write = languages[new Intl.Locale(locale).language] ?? languages['en']
  return { subject, message: write?.(subject, firm).trim() ?? '' }
}
