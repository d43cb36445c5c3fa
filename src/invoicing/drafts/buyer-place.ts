import { letteredLocale } from '../files/numbers.ts'
import type { BuyerPlace } from '../document.ts'
import type { InvoiceSettings } from '../settings.ts'

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
