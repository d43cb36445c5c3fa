/**
 * What does not show, or makes the text around it show otherwise than it is: control characters, other line breaks,
 * embeddings and isolates of direction, and characters without a width that join nothing (those that do are part of
 * how some languages are written).
 */
const hidden = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/u

/** The first character of a text that has no place in one line of it, in words; undefined where there is none. */
export function hiddenIn(text: string): string | undefined {
  const found = hidden.exec(text)?.[0]
  if (found === undefined) return undefined
  return names.get(found) ?? `the character ${codeOf(found)}, which does not show`
}

const names = new Map([
  ['\n', 'a line break'],
  ['\r', 'a line break'],
  ['\u2028', 'a line break'],
  ['\u2029', 'a line break'],
  ['\t', 'a tab'],
])

/** Letters and signs, but for those that are drawn as nothing: fillers of Hangul, the empty pattern of Braille. */
const shown = /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]/v

/** Whether there is anything to see. */
export function isBlank(text: string): boolean {
  return !shown.test(text)
}

/** A text of somebody else's in quotes, for a terminal: with what does not show written out. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(new RegExp(hidden, 'gu'), (character) => `\\u{${hexOf(character)}}`)
}

const hexOf = (character: string) => (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
const codeOf = (character: string) => `U+${hexOf(character).toUpperCase()}`
