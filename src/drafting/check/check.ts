import { pace } from '../../platform/flow/pace.ts'
import { createKnownDays, daysIn, withoutDays, type KnownDays } from './dates.ts'
import { foldedWords, findNames, smallWords, type FoundName } from './names.ts'
import { numberPattern, readingsOf, valueOfWord } from './numbers.ts'

/** A figure, a date or a name of a letter. */
export interface Detail {
  readonly kind: 'figure' | 'date' | 'name'
  readonly text: string
}

/** A sentence of a letter. */
export interface CheckedSentence {
  readonly text: string
  /** The index of the source that it rests on, or null if it shares too little with any. */
  readonly source: number | null
  /** What it says that stands in no source, in order. */
  readonly missing: readonly Detail[]
}

/** How a letter rests on its sources. It compares texts and asks no model, so it finds what differs, not what is wrong. */
export interface LetterCheck {
  /** In order. */
  readonly sentences: readonly CheckedSentence[]
  /** The indexes of the sources on which no sentence rests. */
  readonly unused: readonly number[]
}

/**
 * @param letter a plain text
 * @param sources the texts that the letter was written from
 * @param known other texts that a letter may repeat, such as its instructions and the names of client and writer. No sentence rests on them.
 */
export async function checkLetter(
  letter: string,
  sources: readonly string[],
  known: readonly string[],
): Promise<LetterCheck> {
  const facts = createFacts()
  const subjects: Set<string>[] = []
  for (const source of sources) subjects.push(await readSource(source, facts))
  for (const text of known) await readSource(text, facts)
  const sentences: CheckedSentence[] = []
  for (const part of partsOf(letter)) {
    await pace()
    const details = detailsIn(part, facts.small)
    let next = 0
    for (const { text, at } of sentencesIn(part)) {
      await pace()
      const first = next
      while ((details[next]?.at ?? Infinity) < at + text.length) next += 1
      const missing = details.slice(first, next).filter(({ isIn }) => !isIn(facts))
      sentences.push({
        text: text.trim(),
        source: closest(text, subjects),
        missing: missing.map(({ kind, text: found }) => ({ kind, text: found })),
      })
    }
  }
  const used = new Set(sentences.map(({ source }) => source))
  return { sentences, unused: [...sources.keys()].filter((index) => !used.has(index)) }
}

/** All that some texts say. */
interface Facts {
  readonly numbers: Set<string>
  readonly days: KnownDays
  readonly years: Set<number>
  readonly words: Set<string>
  /** The words that stand in lower case. */
  readonly small: Set<string>
}

const createFacts = (): Facts => ({
  numbers: new Set(),
  days: createKnownDays(),
  years: new Set(),
  words: new Set(),
  small: new Set(),
})

/** Adds what a text says to the facts. Returns the stems of its words. */
async function readSource(text: string, { numbers, days, years, words, small }: Facts): Promise<Set<string>> {
  const stems = new Set<string>()
  for (const part of partsOf(text)) {
    await pace()
    for (const { readings } of daysIn(part)) {
      for (const day of readings) {
        days.add(day)
        if (day.year !== undefined) years.add(day.year)
      }
    }
    for (const [number] of part.matchAll(numberPattern)) {
      for (const value of readingsOf(number)) {
        numbers.add(value)
        if (/^\d{4}$/.test(value)) years.add(Number(value))
      }
    }
    for (const word of foldedWords(part)) {
      words.add(word)
      stems.add(stemOf(word))
      const value = valueOfWord(word)
      if (value !== undefined) numbers.add(value)
    }
    for (const word of smallWords(part)) small.add(word)
  }
  return stems
}

/** Characters of a text that are read at once. */
const partLength = 20_000

/** Splits a text at the ends of lines. A line that is too long is split anywhere. */
function* partsOf(text: string): Generator<string> {
  let start = 0
  while (start < text.length) {
    const line = text.lastIndexOf('\n', start + partLength)
    const end = text.length - start <= partLength ? text.length : line > start ? line : start + partLength
    yield text.slice(start, end)
    start = end
  }
}

interface FoundDetail extends Detail {
  readonly at: number
  readonly isIn: (facts: Facts) => boolean
}

/** In order. @param small the words that stand in lower case in the sources */
function detailsIn(text: string, small: ReadonlySet<string>): FoundDetail[] {
  const days = daysIn(text)
  // What is part of a date is no other figure or name.
  const rest = withoutDays(text, days)
  const dates = days.map(({ readings, ...found }): FoundDetail => ({
    ...found,
    kind: 'date',
    isIn: (facts) => readings.some((day) => facts.days.covers(day, (year) => facts.years.has(year))),
  }))
  const figures = [...rest.matchAll(numberPattern)].flatMap(({ 0: number, index }): FoundDetail[] =>
    isListMark(rest, index, number) ? [] : [figureDetail(rest, index, number)],
  )
  const names = findNames(rest, small).flatMap((found): FoundDetail[] =>
    isCurrency(rest, found)
      ? []
      : [{ ...found, kind: 'name', isIn: (facts) => found.words.every((word) => facts.words.has(word)) }],
  )
  return [...dates, ...figures, ...names].toSorted((one, other) => one.at - other.at)
}

/** A figure with what belongs to it: `$4,120`, `12 %`, `C-000123`. */
function figureDetail(text: string, at: number, number: string): FoundDetail {
  const before = /(?:\p{Sc}|[\p{Lu}\p{N}]+[-/])*\u00a0?$/u.exec(nearBefore(text, at))?.[0] ?? ''
  const after = /^[\u00a0\u202f ]?[%‰\p{Sc}]/u.exec(nearAfter(text, at + number.length))?.[0] ?? ''
  const values = readingsOf(number)
  return {
    kind: 'figure',
    text: before + number + after,
    at: at - before.length,
    isIn: ({ numbers }) => values.some((value) => numbers.has(value)),
  }
}

/** Whether a number begins an item of a list. */
function isListMark(text: string, at: number, number: string): boolean {
  if (!/^\d{1,3}$/.test(number) || !/^[.)]\s/.test(nearAfter(text, at + number.length))) return false
  return /(?:^|\n)[ \t]*$/.test(nearBefore(text, at))
}

/** Whether a word is the code of a currency beside a figure. */
function isCurrency(text: string, { at, text: word }: FoundName): boolean {
  const isBeside = /\d\s?$/.test(nearBefore(text, at)) || /^\s?\d/.test(nearAfter(text, at + word.length))
  return isBeside && currencies.has(word)
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

const nearBefore = (text: string, at: number): string => text.slice(Math.max(0, at - 20), at)
const nearAfter = (text: string, at: number): string => text.slice(at, at + 5)

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

function sentencesIn(text: string) {
  return [...segmenter.segment(text)].flatMap(({ segment, index }) =>
    segment.trim() === '' ? [] : [{ text: segment, at: index }],
  )
}

/** Of the weight of a sentence, what a source must share. */
const leastShared = 0.4
/** A sentence of less weight, such as a salutation, rests on nothing. */
const leastWeight = 3

/** The index of the source that shares most with a sentence. */
function closest(sentence: string, sources: readonly ReadonlySet<string>[]): number | null {
  const weights = new Map(foldedWords(sentence).map((word) => [stemOf(word), weightOf(word)]))
  const total = sum(weights.values())
  if (total < leastWeight) return null
  const shared = sources.map((stems) => sum([...weights].map(([stem, weight]) => (stems.has(stem) ? weight : 0))))
  const most = Math.max(0, ...shared)
  return most / total < leastShared ? null : shared.indexOf(most)
}

/** "agreement" and "agreed" have the same. */
const stemOf = (word: string): string => word.slice(0, 5)

/** Figures and long words tell texts apart, short words do not. */
function weightOf(word: string): number {
  if (/^\d/.test(word) || word.length > 6) return 2
  return word.length > 3 ? 1 : 0
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0)
