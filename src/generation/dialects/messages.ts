import { mustBe, shownName } from './body.ts'

/** The most messages of a conversation. */
export const mostMessages = 4096

/** Refuses fields that are not known. */
export function refuseOthers(fields: object, known: readonly string[], place: string): void {
  const other = Object.keys(fields).find((name) => !known.includes(name))
  if (other !== undefined) throw mustBe(`${place}.${shownName(other)}`, 'omitted: it is not supported here')
}

/** JSON can carry lone surrogates and NUL, which neither a tokenizer nor a database accepts. */
export function checkedText(text: string, field: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text
  throw mustBe(field, 'valid Unicode without NUL characters')
}
