import { englishDays } from './english-days.ts'

/** How a language names days by which something is to be done. */
export interface DayWords {
  /**
   * The phrases that name such a day, for example “by Monday”, the most exact first: what one of them matches, the later ones do not see.
   * A phrase without a day in the calendar, such as 30 February, returns undefined. Days are written `2026-12-07`.
   */
  readonly phrases: readonly {
    /** With the flag `g`. */
    readonly pattern: RegExp
    dayOf(this: void, groups: Readonly<Record<string, string | undefined>>, today: string): string | undefined
  }[]
  /** A line after which the rest of the text is a mail that someone quotes. */
  readonly quotedFrom: RegExp
}

/** A sentence that says by when something is to be done. */
export interface Deadline {
  /** Without the marks of lists and emphasis, cut off after 300 characters, which a task can have. */
  readonly sentence: string
  /** `2026-12-07`. Today or later. */
  readonly day: string
}

const mostOfTitle = 300

/** The first sentence of a text, which may be Markdown, that names a day by which something is to be done. Days that are past do not count. */
export function deadlineIn(text: string, today: string, words: DayWords = englishDays): Deadline | undefined {
  for (const line of ownLines(text, words)) {
    // A number after a full stop continues the sentence: “by Sept. 1”.
    for (const sentence of line.split(/(?<=[.!?;])\s+(?=[^\p{Ll}\p{N}])/u)) {
      const plain = plainOf(sentence)
      const day = dayIn(plain, today, words)
      if (day !== undefined) return { sentence: shortened(plain), day }
    }
  }
  return undefined
}

/** The lines that the author of the text has written. */
function ownLines(text: string, { quotedFrom }: DayWords): string[] {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => quotedFrom.test(line))
  return lines.slice(0, end === -1 ? undefined : end).filter((line) => !/^\s*>/.test(line))
}

function plainOf(sentence: string): string {
  return sentence
    .replace(/^\s*(?:#{1,6}|[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/, '')
    .replaceAll(/\*+|__|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function dayIn(sentence: string, today: string, { phrases }: DayWords): string | undefined {
  let rest = sentence
  const days: { readonly at: number; readonly day: string }[] = []
  for (const { pattern, dayOf } of phrases) {
    rest = rest.replaceAll(pattern, (...found: unknown[]) => {
      const match = String(found[0])
      const day = dayOf(groupsOf(found.at(-1)), today)
      if (day !== undefined && day >= today) days.push({ at: Number(found.at(-3)), day })
      // As long as before, so that later matches keep their places.
      return '\0'.repeat(match.length)
    })
  }
  return days.toSorted((a, b) => a.at - b.at)[0]?.day
}

function groupsOf(value: unknown): Readonly<Record<string, string | undefined>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

function shortened(text: string): string {
  return text.length > mostOfTitle ? `${text.slice(0, mostOfTitle - 1).trimEnd()}…` : text
}
