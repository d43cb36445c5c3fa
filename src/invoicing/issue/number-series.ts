/** A series of numbers: invoices with the same text around their numbers are numbered together. */
export interface NumberSeries {
  /** The text with a place for the number: `INV-2026-{number}`. */
  readonly name: string
  /** The fewest digits of a number. */
  readonly digits: number
}

/** The series of a pattern such as `INV-{year}-{number:4}` (`invoicing.number` of the configuration) in a year. */
export function numberSeries(pattern: string, year: number): NumberSeries {
  const [, digits = '1'] = /\{number:(\d)\}/.exec(pattern) ?? []
  const name = pattern.replaceAll('{year}', String(year)).replace(/\{number(?::\d)?\}/, '{number}')
  return { name, digits: Number(digits) }
}
