import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createLocalEngine, type LocalEngine } from '../src/models/local/engine.ts'
import type { StreamEnd } from '../src/models/model.ts'
import type { Row } from './row.ts'

const parallel = 8
const replyTokens = 64
/** Words of one token each. */
const longPrompt = ' the'.repeat(900)
/** Prompt tokens that the engine evaluates at once on a processor. */
const chunk = 128
const rounds = 3

/**
 * How requests share one engine: whether all progress together, whether a long prompt delays another reply for more than
 * one chunk, and after how many chunks a caller who disconnects during the prompt has freed the slot.
 */
export async function benchFairness(name: string, file: string): Promise<Row[]> {
  const log = pino({ level: 'warn' }, process.stderr)
  const engine = createLocalEngine({ id: 'bench', file, context: 1024, maxOutputTokens: 512, parallel, log })
  try {
    await engine.ready()
    await play(engine, 'Hello', 8)
    const { startedAtFirstEnd, same } = await runTogether(engine)
    const perChunk: number[] = []
    const slotTimes: number[] = []
    for (let round = 0; round < rounds; round++) {
      const milliseconds = await chunkTime(engine)
      perChunk.push(await textsPerChunk(engine))
      slotTimes.push((await timeToFreeSlot(engine, milliseconds)) / milliseconds)
    }
    return [
      {
        name: `${name}: replies of 8 that have started when the first one has its 64th token`,
        unit: 'replies',
        samples: [startedAtFirstEnd],
        goal: { atLeast: parallel },
      },
      { name: `${name}: replies of 8 that are the same when run alone`, unit: 'replies', samples: [same] },
      {
        name: `${name}: tokens of a reply per chunk of a prompt of 900 tokens evaluated meanwhile`,
        unit: 'tokens',
        samples: perChunk,
        goal: { atLeast: 1 },
      },
      {
        name: `${name}: from a disconnection during the prompt to the free slot`,
        unit: 'chunks',
        samples: slotTimes,
        goal: { atMost: 1.5 },
      },
    ]
  } finally {
    await engine.close()
  }
}

interface Reply {
  readonly text: string
  readonly end: StreamEnd
}

async function play(
  engine: LocalEngine,
  text: string,
  maxOutputTokens: number,
  {
    signal = new AbortController().signal,
    onTexts = () => undefined,
  }: { signal?: AbortSignal; onTexts?: () => void } = {},
): Promise<Reply> {
  let reply = ''
  const prompt = { messages: [{ role: 'user', text } as const] }
  for await (const piece of engine.stream(prompt, { maxOutputTokens }, signal)) {
    if (piece.kind === 'end') return { text: reply, end: piece }
    if (piece.kind === 'texts') reply += piece.texts.join('')
    onTexts()
  }
  throw new Error('A run of the engine ended without an end event.')
}

async function runTogether(engine: LocalEngine): Promise<{ startedAtFirstEnd: number; same: number }> {
  const texts = Array.from({ length: parallel }, (_, index) => `Meeting ${index}. ${'We met. '.repeat(index * 4)}`)
  const started = new Set<string>()
  let startedAtFirstEnd = 0
  const all = await Promise.all(
    texts.map(async (text) => {
      const reply = await play(engine, text, replyTokens, { onTexts: () => void started.add(text) })
      if (startedAtFirstEnd === 0) startedAtFirstEnd = started.size
      return reply
    }),
  )
  let same = 0
  for (const [index, text] of texts.entries()) {
    if ((await play(engine, text, replyTokens)).text === all[index]?.text) same++
  }
  return { startedAtFirstEnd, same }
}

/** The time of one chunk of the long prompt, in ms, with no other request. */
async function chunkTime(engine: LocalEngine): Promise<number> {
  const startedAt = performance.now()
  const { end } = await play(engine, longPrompt, 1)
  return ((performance.now() - startedAt) / end.usage.inputTokens) * chunk
}

/** At least one token per chunk means that no reply waits for longer than a chunk. */
async function textsPerChunk(engine: LocalEngine): Promise<number> {
  const caller = new AbortController()
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  let texts = 0
  const onTexts = (): void => {
    texts++
    start()
  }
  const reply = play(engine, 'Hello', 500, { signal: caller.signal, onTexts })
  await started
  texts = 0
  const { end } = await play(engine, longPrompt, 1)
  const textsMeanwhile = texts
  caller.abort()
  await reply
  return textsMeanwhile / Math.ceil(end.usage.inputTokens / chunk)
}

/** ms from the disconnection to the end of the run. */
async function timeToFreeSlot(engine: LocalEngine, chunkMilliseconds: number): Promise<number> {
  const caller = new AbortController()
  const reply = play(engine, longPrompt, 1, { signal: caller.signal })
  await wait(2.5 * chunkMilliseconds)
  const disconnectedAt = performance.now()
  caller.abort()
  const { end } = await reply
  if (end.stopReason !== 'cancelled') throw new Error(`The run ended as ${end.stopReason} instead of cancelled.`)
  return performance.now() - disconnectedAt
}
