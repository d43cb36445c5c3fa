import { Problem } from '../problems.ts'

/**
 * Characters that are invisible or change how the text around them is displayed: control characters, line separators,
 * bidirectional controls, and zero-width characters except joiners, which some scripts need.
 */
const hidden = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/u

/** Describes the first invisible character of a text, such as `a line break`. Undefined if there is none. */
export function hiddenIn(text: string): string | undefined {
  const found = hidden.exec(text)?.[0]
  if (found === undefined) return undefined
  return names.get(found) ?? `the character ${codeOf(found)}, which is invisible`
}

const names = new Map([
  ['\n', 'a line break'],
  ['\r', 'a line break'],
  ['\u2028', 'a line break'],
  ['\u2029', 'a line break'],
  ['\t', 'a tab'],
])

/** Letters, digits, punctuation and symbols, except blank ones such as Hangul fillers and the empty Braille pattern. */
const visible = /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]/v

/** Whether a text has no visible character. */
export function isBlank(text: string): boolean {
  return !visible.test(text)
}

/** Quotes untrusted text for a terminal, with invisible characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(new RegExp(hidden, 'gu'), (character) => `\\u{${hexOf(character)}}`)
}

/** Untrusted text as it is if all of it is visible, otherwise quoted. */
export const quotedIfHidden = (text: string): string => (hiddenIn(text) === undefined ? text : quoted(text))

const hexOf = (character: string) => (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
const codeOf = (character: string) => `U+${hexOf(character).toUpperCase()}`

/** The most characters of a display name. */
const longestName = 200

/** Trims a display name. Throws Problem `invalid_field` if it is empty, too long or has an invisible character. */
export function checkName(text: string): string {
  const name = text.trim()
  if (isBlank(name)) throw new Problem('invalid_field', 'Give a name: it must not be empty.', { field: 'name' })
  if (name.length > longestName) {
    throw new Problem('invalid_field', `Choose a shorter name: at most ${longestName} characters.`, { field: 'name' })
  }
  const found = name.isWellFormed() ? hiddenIn(name) : 'an unpaired surrogate, which is not valid Unicode'
  if (found !== undefined) {
    throw new Problem('invalid_field', `Write the name on one line of plain text: it has ${found}.`, { field: 'name' })
  }
  return name
}
