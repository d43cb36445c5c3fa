/**
 * Measures a running service against `evaluation.jsonl`: what share of the replies carries every required name, date
 * and amount, introduces none, ends by itself within 220 tokens, and is what was asked
 * for: a letter, a summary, a list of action items, an answer to a dispute; off topic, the word of what the model is.
 *
 *     node models/tiny/evaluate.ts --url http://127.0.0.1:8080 --key <API key> [--model tiny] [--set "held out"]
 *       [--job letter] [--limit 50] [--at-once 2] [--show 3]
 */
import { parseArgs } from 'node:util'
import { readEvaluation, type Sample } from './evaluation-file.ts'
import { judge, type Answer, type Verdict } from './verdict.ts'

const maxOutputTokens = 220

const { values: flags } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    key: { type: 'string', default: '' },
    model: { type: 'string', default: 'tiny' },
    set: { type: 'string' },
    job: { type: 'string' },
    limit: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '2' },
    show: { type: 'string', default: '0' },
  },
})

interface Judged {
  readonly sample: Sample
  readonly answer: Answer
  readonly verdict: Verdict
}

const { ordinary, samples } = await readEvaluation(new URL('evaluation.jsonl', import.meta.url))
const groups = Map.groupBy(
  samples.filter(({ set, job }) => (flags.set ?? set) === set && (flags.job ?? job) === job),
  ({ set, job }) => `${set}: ${job}`,
)
say('share of replies that'.padEnd(28), 'replies', '  carry all', '  add none', '  end', '  right job')
for (const [name, members] of groups) {
  const judged = await judgeAll(members.slice(0, Number(flags.limit)))
  say(name.padEnd(28), String(judged.length).padStart(7), ...figuresOf(judged))
  for (const { sample, answer, verdict } of judged.filter(isFaulty).slice(0, Number(flags.show))) {
    say(`\n${sample.instructions}\n${sample.input}\n→ ${answer.text}\n`, JSON.stringify(verdict), '\n')
  }
}

async function judgeAll(members: readonly Sample[]): Promise<Judged[]> {
  const judged: Judged[] = []
  const waiting = members.values()
  async function work(): Promise<void> {
    for (const sample of waiting) {
      const answer = await ask(sample)
      judged.push({ sample, answer, verdict: judge(sample, answer, ordinary) })
    }
  }
  await Promise.all(Array.from({ length: Number(flags['at-once']) }, work))
  return judged
}

/** One call of `POST /v1/generate` at temperature 0. Waits and asks again where the service says to come back later. */
async function ask({ instructions, input }: Sample): Promise<Answer> {
  const task = instructions === '' ? {} : { instructions }
  const body = { model: flags.model, ...task, input, max_output_tokens: maxOutputTokens, temperature: 0 }
  const response = await fetch(new URL('/v1/generate', flags.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${flags.key}` },
    body: JSON.stringify(body),
  })
  if (response.status === 429 || response.status === 503) {
    const seconds = Number(response.headers.get('retry-after') ?? 1)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    return ask({ set: '', job: '', instructions, input, required: [] })
  }
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return answerOf(await response.json())
}

function answerOf(reply: unknown): Answer {
  if (typeof reply !== 'object' || reply === null) throw new Error('The reply is no object.')
  const fields = new Map<string, unknown>(Object.entries(reply))
  const [text, stopReason] = [fields.get('output_text'), fields.get('stop_reason')]
  if (typeof text !== 'string' || typeof stopReason !== 'string') throw new Error('The reply lacks its fields.')
  return { text, stopReason }
}

function figuresOf(judged: readonly Judged[]): string[] {
  const tests: ((verdict: Verdict) => boolean)[] = [
    ({ missing }) => missing.length === 0,
    ({ invented }) => invented.length === 0,
    ({ ended }) => ended,
    ({ rightJob }) => rightJob,
  ]
  return tests.map((holds) =>
    `${((100 * judged.filter(({ verdict }) => holds(verdict)).length) / judged.length).toFixed(1)} %`.padStart(9),
  )
}

function isFaulty({ verdict }: Judged): boolean {
  return verdict.missing.length > 0 || verdict.invented.length > 0 || !verdict.ended || !verdict.rightJob
}

function say(...parts: string[]): void {
  process.stdout.write(`${parts.join(' ')}\n`)
}
