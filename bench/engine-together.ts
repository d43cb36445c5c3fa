import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createLocalEngine, type LocalEngine } from '../src/models/local/engine.ts'
import type { StreamEnd } from '../src/models/model.ts'
import type { Row } from './row.ts'

const parallel = 8
const replyTokens = 64
/** Words of one token each. */
const longPrompt = ' the'.repeat(900)
/** Tokens of a prompt that the engine reads at once on a processor. */
const chunk = 128
const rounds = 3

/**
 * How requests get along on one engine: whether all progress together, whether a long prompt holds up the reply of another
 * for more than a chunk, and how soon, in chunks, a caller who leaves while his prompt is read has freed his place.
 */
export async function benchTogether(name: string, file: string): Promise<Row[]> {
  const log = pino({ level: 'warn' }, process.stderr)
  const engine = createLocalEngine({ id: 'bench', file, context: 1024, maxOutputTokens: 512, parallel, log })
  try {
    await engine.ready()
    await play(engine, 'Hello', 8)
    const { begunAtFirstEnd, same } = await together(engine)
    const perChunk: number[] = []
    const leaves: number[] = []
    for (let round = 0; round < rounds; round++) {
      const milliseconds = await chunkTime(engine)
      perChunk.push(await textsPerChunk(engine))
      leaves.push((await timeToLeave(engine, milliseconds)) / milliseconds)
    }
    return [
      {
        name: `${name}: replies of 8 that have begun when the first has its 64th token`,
        unit: 'replies',
        samples: [begunAtFirstEnd],
        goal: { atLeast: parallel },
      },
      { name: `${name}: replies of 8 that are the same alone`, unit: 'replies', samples: [same] },
      {
        name: `${name}: tokens of a reply for each chunk of a prompt of 900 tokens that is read meanwhile`,
        unit: 'tokens',
        samples: perChunk,
        goal: { atLeast: 1 },
      },
      {
        name: `${name}: until who leaves in his prompt has freed his place`,
        unit: 'chunks',
        samples: leaves,
        goal: { atMost: 1.5 },
      },
    ]
  } finally {
    await engine.close()
  }
}

interface Played {
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
): Promise<Played> {
  let said = ''
  const prompt = { messages: [{ role: 'user', text } as const] }
  for await (const piece of engine.stream(prompt, { maxOutputTokens }, signal)) {
    if (piece.kind === 'end') return { text: said, end: piece }
    said += piece.texts.join('')
    onTexts()
  }
  throw new Error('A run of the engine ended without saying how.')
}

async function together(engine: LocalEngine): Promise<{ begunAtFirstEnd: number; same: number }> {
  const texts = Array.from({ length: parallel }, (_, index) => `Meeting ${index}. ${'We met. '.repeat(index * 4)}`)
  const begun = new Set<string>()
  let begunAtFirstEnd = 0
  const all = await Promise.all(
    texts.map(async (text) => {
      const played = await play(engine, text, replyTokens, { onTexts: () => void begun.add(text) })
      if (begunAtFirstEnd === 0) begunAtFirstEnd = begun.size
      return played
    }),
  )
  let same = 0
  for (const [index, text] of texts.entries()) {
    if ((await play(engine, text, replyTokens)).text === all[index]?.text) same++
  }
  return { begunAtFirstEnd, same }
}

/** Milliseconds that one chunk of the long prompt takes when nobody else is there. */
async function chunkTime(engine: LocalEngine): Promise<number> {
  const startedAt = performance.now()
  const { end } = await play(engine, longPrompt, 1)
  return ((performance.now() - startedAt) / end.usage.inputTokens) * chunk
}

/** Nothing holds a reply up for longer than a chunk if it goes on by a token for each of them. */
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

async function timeToLeave(engine: LocalEngine, chunkMilliseconds: number): Promise<number> {
  const caller = new AbortController()
  const reply = play(engine, longPrompt, 1, { signal: caller.signal })
  await wait(2.5 * chunkMilliseconds)
  const leftAt = performance.now()
  caller.abort()
  const { end } = await reply
  if (end.stopReason !== 'cancelled') throw new Error(`The run ended as ${end.stopReason} instead of cancelled.`)
  return performance.now() - leftAt
}
