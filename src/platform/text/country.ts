/** Countries by their codes of ISO 3166-1, in which EN 16931 states them. */

/** What Unicode has beside the countries of ISO 3166-1. */
const others = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ'])

const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')
const english = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
const countries = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter((code) => !others.has(code) && english.of(code) !== undefined && isCurrent(code))

/** A former country has another code as its canonical one. */
function isCurrent(code: string): boolean {
  return new Intl.Locale(`und-${code}`).region === code
}

const known = new Set(countries)

/** In capitals. */
export function isCountry(code: string): boolean {
  return known.has(code)
}

/** Whether a tax number is a VAT number with the code of its country (EN 16931, BR-CO-09), such as `DE123456789`. */
export function isVatId(taxNumber: string | null): taxNumber is string {
  return taxNumber !== null && countryOfVatId(taxNumber) !== undefined
}

/** What a VAT number matches, in JavaScript and in PostgreSQL. Greece has a code of its own there. */
export const vatIdPattern = `^(${[...countries, 'EL'].join('|')})(?=.*[0-9])[A-Z0-9 .+*-]{2,}$`

const vatId = new RegExp(vatIdPattern, 'u')

/** The country that a VAT number begins with; undefined for another tax number. */
export function countryOfVatId(taxNumber: string): string | undefined {
  const country = vatId.exec(taxNumber)?.[1]
  return country === 'EL' ? 'GR' : country
}

/** The country of the last line of an address, by its name in English or in the language of a locale, or by its code. */
export function countryOfLine(line: string, locale: string): string | undefined {
  const code = line.trim().toUpperCase()
  return isCountry(code) ? code : namesIn(locale).get(folded(line))
}

const folded = (name: string) =>
  name
    .normalize('NFD')
    .replaceAll(/[^\p{L}]/gu, '')
    .toLowerCase()
const namesByLanguage = new Map<string, ReadonlyMap<string, string>>()

function namesIn(locale: string): ReadonlyMap<string, string> {
  const before = namesByLanguage.get(locale)
  if (before !== undefined) return before
  const formats = ['en', locale].flatMap((language) =>
    (['long', 'short'] as const).map((style) => new Intl.DisplayNames(language, { type: 'region', style })),
  )
  const names = new Map(formats.flatMap((format) => countries.map((code) => [folded(format.of(code) ?? ''), code])))
  namesByLanguage.set(locale, names)
  return names
}
