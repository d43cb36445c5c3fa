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

function isCountry(code: string): boolean {
  return known.has(code)
}

/** Whether a tax number is a VAT number with the code of its country (EN 16931, BR-CO-09), such as `DE123456789`. */
export function isVatId(taxNumber: string | null): taxNumber is string {
  return taxNumber !== null && countryOfVatId(taxNumber) !== undefined
}

/** The country that a VAT number begins with; undefined for another tax number. */
export function countryOfVatId(taxNumber: string): string | undefined {
  const [, prefix = ''] = /^([A-Z]{2})(?=.*\d)[A-Z\d .+*-]{2,}$/.exec(taxNumber) ?? []
  // Greece has a code of its own there.
  const country = prefix === 'EL' ? 'GR' : prefix
  return isCountry(country) ? country : undefined
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
