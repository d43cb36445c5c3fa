import { today } from '../../platform/text/calendar.ts'
import { localeIn } from '../../platform/text/languages.ts'
import type { IssueTerms } from '../changes-store.ts'
import { numberSeries, type InvoiceSettings } from '../settings.ts'

/** What an invoice gets when it is issued on a day, by default today, in a language, by default the firm's. */
export function issueTerms(
  settings: InvoiceSettings,
  kind: 'invoice' | 'credit_note',
  {
    on = today(settings.timeZone),
    language = null,
  }: { readonly on?: string | undefined; readonly language?: string | null } = {},
): IssueTerms {
  const { seller, numbers, dueDays, locale } = settings
  const day = Temporal.PlainDate.from(on)
  return {
    series: numberSeries(numbers[kind], day.year),
    issuedOn: day.toString(),
    dueOn: day.add({ days: kind === 'invoice' ? dueDays : 0 }).toString(),
    seller: seller && { ...seller, locale: localeIn(language, locale) },
  }
}
