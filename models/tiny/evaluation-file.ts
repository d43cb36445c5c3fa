import { readFile } from 'node:fs/promises'

/** One prompt of `evaluation.jsonl`, and the names, dates and amounts that every good reply to it carries. */
export interface Sample {
  readonly set: string
  readonly job: string
  readonly instructions: string
  readonly input: string
  readonly required: readonly string[]
}

export interface Evaluation {
  /** Words that may begin a sentence of a reply without being a name. */
  readonly ordinary: ReadonlySet<string>
  readonly samples: readonly Sample[]
}

/** Reads a file that `recipe/evaluation.py` wrote. Throws an Error naming the line that is none of its lines. */
export async function readEvaluation(file: string | URL): Promise<Evaluation> {
  const [head, ...lines] = (await readFile(file, 'utf8')).trim().split('\n')
  const first: unknown = JSON.parse(head ?? '')
  if (typeof first !== 'object' || first === null || !('ordinary' in first) || !isTexts(first.ordinary)) {
    throw new Error('Line 1 must hold the ordinary words.')
  }
  return { ordinary: new Set(first.ordinary), samples: lines.map((line, index) => sampleOf(line, index + 2)) }
}

function sampleOf(line: string, number: number): Sample {
  const value: unknown = JSON.parse(line)
  if (!isSample(value)) throw new Error(`Line ${number} is not a sample.`)
  return value
}

function isSample(value: unknown): value is Sample {
  if (typeof value !== 'object' || value === null || !('required' in value) || !isTexts(value.required)) return false
  const fields = new Map<string, unknown>(Object.entries(value))
  return ['set', 'job', 'instructions', 'input'].every((name) => typeof fields.get(name) === 'string')
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}
