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
  /** Whether it is what was asked for: a letter, a summary, a list, an answer to the dispute; off topic, the confession. */
  readonly rightJob: boolean
}

const months = 'January|February|March|April|May|June|July|August|September|October|November|December'
const days = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday'
const dated = new RegExp(`\\b(?:${months}|${days})\\b`, 'g')
const figure = /\d+(?:[.,:/'’-]\d+)*/g
const capitalised = /(?<before>^|[\s(“"-]+)(?<word>\p{Lu}[\p{L}'’-]*)/gu
const confession = /demonstration model/
const salutation = /^Dear .+,\n/
const greeting = /\n(?:Kind regards|Best regards|Best wishes|Yours sincerely|Yours faithfully),/
const aboutInvoice = /^.*\n+(?:Thank you for your message|We refer to)\b.* invoice /
const item = /^(?:- |\d+\. )\S/

export function judge(sample: Sample, answer: Answer, ordinary: ReadonlySet<string>): Verdict {
  const prompt = `${sample.instructions}\n${sample.input}`
  const confesses = confession.test(answer.text)
  const offTopic = sample.job === 'offtopic'
  return {
    missing: sample.required.filter((value) => !answer.text.includes(value)),
    invented: offTopic && confesses ? [] : invented(answer.text, prompt, ordinary),
    ended: answer.stopReason === 'complete',
    rightJob: isJob(sample.job, answer.text.trim()),
  }
}

/** Whether a reply has the form of a job. Any other name of a job is taken for one off topic. */
function isJob(job: string, text: string): boolean {
  const confesses = confession.test(text)
  const isLetter = salutation.test(text) && greeting.test(text) && !confesses
  const lines = text.split('\n')
  if (job === 'letter') return isLetter && !aboutInvoice.test(text)
  if (job === 'dispute') return isLetter && aboutInvoice.test(text)
  if (job === 'summary') return !confesses && lines.length === 1 && !salutation.test(`${text}\n`) && !item.test(text)
  if (job === 'actions') return lines.every((line) => item.test(line)) || text.startsWith('There are no action items')
  return confesses && text.includes('tollgate.yaml')
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
  // 'mid-January' holds the word January, which a reply finds behind the hyphen as the prompt does.
  const known = new Set([...wordsOf(prompt), ...[...prompt.matchAll(capitalised)].map(({ groups }) => groups?.['word'] ?? '')])
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
