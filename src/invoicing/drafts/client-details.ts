import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { localeIn } from '../../platform/text/languages.ts'
import type { DraftHead } from '../changes-store.ts'
import type { BuyerPlace } from '../document.ts'
import { letteredLocale } from '../files/numbers.ts'
import { readPayer } from './store.ts'
import type { InvoiceSettings } from '../settings.ts'

/** What a draft copies from the record of its client: a later change of the record does not change the draft. */
export type ClientDetails = Pick<
  DraftHead,
  'buyerAddress' | 'buyerPlace' | 'buyerTaxNumber' | 'buyerReference' | 'orderNumber' | 'daysToPay' | 'language'
>

export const noDetails: ClientDetails = {
  buyerAddress: null,
  buyerPlace: null,
  buyerTaxNumber: null,
  buyerReference: null,
  orderNumber: null,
  daysToPay: null,
  language: null,
}

/** Without billing details of an address, the draft has none, and follows the postal address of the client. */
export async function readClientDetails(
  { access, settings }: { readonly access: RecordAccess; readonly settings: InvoiceSettings },
  visit: Visit,
  clientId: string,
): Promise<ClientDetails> {
  const [[client]] = await access.as(visit, [readPayer('client', clientId)])
  if (client === undefined) return noDetails
  const locale = localeIn(client.language, settings.locale)
  const buyerAddress = client.buyer_place && postalAddress(client.buyer_place, { ...settings, locale })
  return {
    buyerAddress,
    buyerPlace: buyerAddress === null ? null : client.buyer_place,
    buyerTaxNumber: client.buyer_tax_number,
    buyerReference: client.buyer_reference,
    orderNumber: client.order_number,
    daysToPay: client.days_to_pay,
    language: client.language,
  }
}

/** Countries where the post code follows the town. */
const townFirst = new Set(['AU', 'CA', 'GB', 'IE', 'IN', 'NZ', 'SG', 'US', 'ZA'])

/**
 * An address as it is written on a letter to a place, without the name: with the country as the last line, unless it is that of
 * the firm. Null if the place has nothing but a country.
 */
export function postalAddress(
  place: BuyerPlace,
  { seller, locale }: Pick<InvoiceSettings, 'seller' | 'locale'>,
): string | null {
  const { street, extra, postcode, city, country } = place
  const home = seller?.country ?? null
  const town = townFirst.has(country ?? home ?? '') ? [city, postcode] : [postcode, city]
  const lines = [street, extra, town.filter((part) => part !== null).join(' ')].filter(Boolean)
  if (lines.length === 0) return null
  return [...lines, ...(country === null || country === home ? [] : [countryName(country, locale)])].join('\n')
}

const countryName = (code: string, locale: string): string =>
  new Intl.DisplayNames(letteredLocale(locale), { type: 'region' }).of(code) ?? code
