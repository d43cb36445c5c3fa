/** The languages that invoices have words in (ISO 639-1). */
export const invoiceLanguages = ['de', 'en', 'fr'] as const
export type InvoiceLanguage = (typeof invoiceLanguages)[number]

/** The languages of contacts to choose from (BCP 47). */
export const contactLanguages = [
  'ar',
  'cs',
  'da',
  'de',
  'el',
  'en',
  'es',
  'fa',
  'fi',
  'fr',
  'he',
  'hi',
  'hu',
  'it',
  'ja',
  'ko',
  'nb',
  'nl',
  'pl',
  'pt',
  'ro',
  'ru',
  'sv',
  'tr',
  'uk',
  'zh',
] as const
export type ContactLanguage = (typeof contactLanguages)[number]

/** The locale of an invoice in a language: that of the firm, if it has the same language, otherwise with the region of the firm. */
export function localeIn(language: string | null, firm: string): string {
  const own = new Intl.Locale(firm)
  return language === null || own.language === language ? firm : `${language}-${own.maximize().region ?? 'ZZ'}`
}
