import type { Sample } from './evaluation-file.ts'

export interface Answer {
  readonly text: string
  readonly stopReason: string
}

/** How one reply did. */
export interface Verdict {
  /** What it should have carried and does not. */
  readonly missing: readonly string[]
  /** Names, dates and figures in it that the prompt does not hold. */
  readonly invented: readonly string[]
  readonly ended: boolean
  /** Off topic: whether it says what it is and where to configure more. On topic: whether it does not say so. */
  readonly onGround: boolean
}

const months = 'January|February|March|April|May|June|July|August|September|October|November|December'
const days = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday'
const dated = new RegExp(`\\b(?:${months}|${days})\\b`, 'g')
const figure = /\d+(?:[.,:/'’-]\d+)*/g
const capitalised = /(?<before>^|[\s(“"-]+)(?<word>\p{Lu}[\p{L}'’-]*)/gu
const confession = /demonstration model/

export function judge(sample: Sample, answer: Answer, ordinary: ReadonlySet<string>): Verdict {
  const prompt = `${sample.instructions}\n${sample.input}`
  const confesses = confession.test(answer.text)
  const offTopic = sample.job === 'offtopic'
  return {
    missing: sample.required.filter((value) => !answer.text.includes(value)),
    invented: offTopic && confesses ? [] : invented(answer.text, prompt, ordinary),
    ended: answer.stopReason === 'complete',
    onGround: offTopic ? confesses && answer.text.includes('tollgate.yaml') : !confesses,
  }
}

function invented(text: string, prompt: string, ordinary: ReadonlySet<string>): string[] {
  return [...new Set([...inventedFigures(text, prompt), ...inventedNames(text, prompt, ordinary)])]
}

function inventedFigures(text: string, prompt: string): string[] {
  const known = new Set([...prompt.matchAll(figure), ...prompt.matchAll(dated)].map(([value]) => value))
  // The number in front of an item of a list is no figure of the case.
  const body = text.replaceAll(/^\d+\. /gm, '')
  return [...body.matchAll(figure), ...body.matchAll(dated)]
    .map(([value]) => value)
    .filter((value) => !known.has(value))
}

/** Words in capitals that the prompt does not hold; at the start of a sentence, ordinary words are no names. */
function inventedNames(text: string, prompt: string, ordinary: ReadonlySet<string>): string[] {
  const known = new Set(wordsOf(prompt))
  const lower = new Set(wordsOf(prompt.toLowerCase()))
  return [...text.matchAll(capitalised)].flatMap((match) => {
    const word = match.groups?.['word'] ?? ''
    const opens = /(?:^|[.!?:]|\n|^- |\n- )[\s“"(-]*$/.test(
      text.slice(0, match.index) + (match.groups?.['before'] ?? ''),
    )
    const fine = known.has(word) || ordinary.has(word) || (opens && lower.has(word.toLowerCase()))
    return fine ? [] : [word]
  })
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/\p{L}[\p{L}'’-]*/gu)].map(([word]) => word)
}
