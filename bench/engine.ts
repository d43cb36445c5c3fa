import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, rename, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createLocalEngine, type LocalEngine } from '../src/models/local/engine.ts'
import { threadsFor } from '../src/models/local/threads.ts'
import { benchFairness } from './engine-fairness.ts'
import type { ReferenceSetup, ReferenceResult, ReferenceRound } from './engine-reference.ts'
import { memoryOf } from './proc.ts'
import { halfBillion, writeRandomModel } from './random-model.ts'
import type { Row } from './row.ts'

const shipped = join(import.meta.dirname, '../models/tiny/tiny.gguf')
const folder = join(import.meta.dirname, 'data/engine')

interface Subject {
  readonly name: string
  readonly file: () => Promise<string>
  readonly outputTokens: number
  /** Per order of starting. */
  readonly rounds: number
  /** A multiple of the tokens/s of node-llama-cpp used directly. */
  readonly goal?: { readonly atLeast: number }
}

const subjects: readonly Subject[] = [
  { name: 'tiny', file: async () => shipped, outputTokens: 200, rounds: 5 },
  { name: '0.5 B', file: halfBillionFile, outputTokens: 48, rounds: 4, goal: { atLeast: 0.9 } },
]

const parallel = 8
const context = 512

/**
 * Tokens/s of the local engine, with its child process, and of node-llama-cpp used directly: for one request and for eight
 * at once, with the same prompts, context and threads, in alternating rounds. Then the fairness of the engine.
 */
export async function benchEngine(): Promise<Row[]> {
  const rows: Row[] = []
  for (const subject of subjects) rows.push(...(await benchSubject(subject)))
  rows.push(...(await benchFairness('0.5 B', await halfBillionFile())))
  return rows
}

/** The process that starts last is a tenth faster, so half of the rounds run in each order of starting. */
async function benchSubject(subject: Subject): Promise<Row[]> {
  const starts = [await playRounds(subject, 'engine'), await playRounds(subject, 'reference')]
  const rows = [1, parallel].flatMap((requests) =>
    rowsOf(
      subject,
      requests,
      starts.flatMap(({ pairs }) => pairs.get(requests) ?? []),
    ),
  )
  const peaks = starts.flatMap(({ memory }) => memory?.peak ?? [])
  const name = `${subject.name}: peak memory of the engine`
  return peaks.length > 0 ? [...rows, { name, unit: 'MB', samples: [Math.max(...peaks)] }] : rows
}

/** Tokens/s of one round. */
interface Pair {
  readonly ours: number
  readonly direct: number
}

/** Starts both, and plays the rounds. Returns them by the number of requests at once, and the engine's memory after them. */
async function playRounds(subject: Subject, last: 'engine' | 'reference') {
  const file = await subject.file()
  const threads = threadsFor((await stat(file)).size, availableParallelism())
  await using started = new AsyncDisposableStack()
  const reference = fork(join(import.meta.dirname, 'engine-reference.ts'))
  started.defer(() => void reference.kill('SIGKILL'))
  const setup = { file, context, parallel, threads }
  if (last === 'engine') await startReference(reference, setup)
  const log = pino({ level: 'warn' }, process.stderr)
  const engine = createLocalEngine({ id: 'bench', file, context, maxOutputTokens: 256, parallel, log })
  started.defer(() => engine.close())
  await engine.ready()
  if (last === 'reference') await startReference(reference, setup)
  const pairs = new Map<number, Pair[]>()
  for (const requests of [1, parallel]) pairs.set(requests, await play(subject, requests, engine, reference))
  return { pairs, memory: memoryOf(engine.pid() ?? 0) }
}

/** The order changes from round to round, so that a drift of the machine favours neither. */
async function play(
  { outputTokens, rounds }: Subject,
  requests: number,
  engine: LocalEngine,
  reference: ChildProcess,
): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const texts = Array.from({ length: requests }, (_, index) => textOf(round * requests + index))
    const direct = async (): Promise<number> =>
      playReference(reference, { prompts: texts.map(inTemplate), outputTokens })
    const early = round % 2 === 0 ? await direct() : undefined
    const ours = await playEngine(engine, texts, outputTokens)
    pairs.push({ ours, direct: early ?? (await direct()) })
  }
  // The first round warms up.
  return pairs.slice(1)
}

function rowsOf({ name, goal }: Subject, requests: number, pairs: readonly Pair[]): Row[] {
  const at = requests === 1 ? 'one request' : `${requests} at once`
  return [
    { name: `${name}: engine, ${at}`, unit: 'tokens/s', samples: pairs.map(({ ours }) => ours) },
    { name: `${name}: node-llama-cpp directly, ${at}`, unit: 'tokens/s', samples: pairs.map(({ direct }) => direct) },
    {
      name: `${name}: engine / directly, ${at}`,
      unit: '×',
      samples: pairs.map(({ ours, direct }) => ours / direct),
      ...(goal && { goal }),
    },
  ]
}

async function playEngine(engine: LocalEngine, texts: readonly string[], maxOutputTokens: number): Promise<number> {
  const startedAt = performance.now()
  const lengths = await Promise.all(
    texts.map(async (text) => {
      const prompt = { messages: [{ role: 'user', text } as const] }
      const { usage } = await engine.run(prompt, { maxOutputTokens }, new AbortController().signal)
      return usage.outputTokens
    }),
  )
  return perSecond(
    lengths.reduce((sum, length) => sum + length, 0),
    performance.now() - startedAt,
  )
}

async function startReference(reference: ChildProcess, setup: ReferenceSetup): Promise<void> {
  const isReady = once(reference, 'message')
  reference.send(setup)
  await isReady
}

async function playReference(reference: ChildProcess, round: ReferenceRound): Promise<number> {
  const result = new Promise<ReferenceResult>((resolve) => reference.once('message', resolve))
  reference.send(round)
  const { outputTokens, milliseconds } = await result
  return perSecond(outputTokens, milliseconds)
}

const perSecond = (tokens: number, milliseconds: number): number => (tokens / milliseconds) * 1000

/** About sixty tokens, different for each number. */
function textOf(number: number): string {
  return `Meeting ${number} on 12 March with Anna Berg of Berg & Sons. We agreed a fixed fee of $4,${100 + number} for the annual accounts. She sends the bank statements by 30 March.`
}

/** The chat template of the shipped model, which the random model copies. */
function inTemplate(text: string): string {
  return `<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant\n`
}

/** Created once, then reused. */
async function halfBillionFile(): Promise<string> {
  const file = join(folder, 'half-billion-3.gguf')
  try {
    await access(file)
  } catch {
    await mkdir(folder, { recursive: true })
    await writeRandomModel(`${file}.part`, halfBillion, shipped)
    await rename(`${file}.part`, file)
  }
  return file
}
