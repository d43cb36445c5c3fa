/**
 * Which texts a search finds: the pages' lists and choices as the database does (`word_pattern()`, `part_patterns()` and `variants()` in SQL).
 * The cases in tests/support/spelling-cases.ts are tested on both.
 */

/** The spellings that are taken for the same as a letter or a pair of letters of a query, with that itself. */
const spellings: Readonly<Record<string, string>> = {
  ss: '(?:ss|ß)',
  th: '(?:th|þ)',
  ae: '(?:ae|æ|a)',
  oe: '(?:oe|œ|ø|o)',
  ue: '(?:ue|u)',
  aa: '(?:aa|a)',
  l: '[lł]',
  o: '[oø]',
  d: '[dđ]',
  i: '[iı]',
  ł: '[łl]',
  ø: '(?:ø|oe?)',
  đ: '[đd]',
  ð: '[ðd]',
  ı: '[ıi]',
  ß: '(?:ß|ss)',
  þ: '(?:þ|th)',
  æ: '(?:æ|ae)',
  œ: '(?:œ|oe)',
}

/** Words in lower case, without accents, separated by single spaces: `words()` in SQL. */
export function plainWords(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** A text whose umlauts are written with an e: `without_umlauts()` in SQL. */
function withoutUmlauts(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/([aou])\u0308/gi, '$1e')
    .replace(/(a)\u030a/gi, '$1a')
}

/** The parts of a word that have spellings of their own. */
const partsOf = (word: string): string[] => word.match(/ss|th|ae|oe|ue|aa|./gu) ?? []

/** A word of fewer letters is found only at the beginning of a word: the database finds other parts by three letters. */
const fewest = 3

/** The patterns of a word of a query, for `plainWords` of a text. */
interface SoughtWord {
  readonly whole: RegExp
  readonly beginning: RegExp
  /** Absent if the word is too short. */
  readonly part: RegExp | undefined
}

function patternsOf(word: string): SoughtWord {
  const parts = partsOf(word)
  const pattern = parts.map((part) => spellings[part] ?? part).join('')
  return {
    whole: new RegExp(`(?:^| )${pattern}(?: |$)`, 'u'),
    beginning: new RegExp(`(?:^| )${pattern}`, 'u'),
    part: parts.length < fewest ? undefined : new RegExp(pattern, 'u'),
  }
}

/** The words of a query. */
export function soughtWords(q: string): SoughtWord[] {
  const words = plainWords(withoutUmlauts(q))
  return words === '' ? [] : words.split(' ').map(patternsOf)
}

const joined = (text: string): string => plainWords(text).replaceAll(' ', '')

/**
 * Returns a function that gives the place of what has these texts: 1 if one of them is the query, 2 if each word of the query is one of
 * theirs, 3 if each begins one, and 4 if each is a part of one, or if the query is a part of the texts without spaces and punctuation.
 * Undefined if it does not match.
 */
export function placing(q: string): (texts: readonly string[]) => number | undefined {
  const words = soughtWords(q)
  const all = patternsOf(joined(withoutUmlauts(q)))
  return (texts) => {
    if (words.length === 0) return undefined
    if (texts.some((text) => all.whole.test(joined(text)))) return 1
    const text = plainWords(texts.join(' '))
    if (words.every(({ whole }) => whole.test(text))) return 2
    if (words.every(({ beginning }) => beginning.test(text))) return 3
    const spelling = `${text} ${text.replaceAll(' ', '')}`
    if (words.every(({ part, beginning }) => (part ?? beginning).test(spelling))) return 4
    return all.part?.test(spelling) ? 4 : undefined
  }
}

/** Those of `all` that match, best first and otherwise in their order; all of them for an empty query. */
export function bestMatches<T>(all: readonly T[], q: string, textsOf: (each: T) => readonly string[]): T[] {
  if (q.trim() === '') return [...all]
  const placeOf = placing(q)
  return all
    .map((each) => ({ each, place: placeOf(textsOf(each)) }))
    .filter(({ place }) => place !== undefined)
    .toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
    .map(({ each }) => each)
}
