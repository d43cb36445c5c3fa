import type { Logger } from 'pino'
import { memoryOf } from '../../platform/system/processes.ts'
import type { Model } from '../model.ts'
import { createEmbeddingEngine } from './embedding-engine.ts'

/** How fast an embedding model reads texts on this machine. */
export interface EmbeddingSpeed {
  /** Milliseconds from the start of the process until it is ready. */
  readonly load: number
  /** Tokens read per second. */
  readonly read: number
  /** How many numbers a vector has. */
  readonly vectorLength: number
  /** Context of the test run, in tokens. */
  readonly context: number
  /** Resident memory of the process in bytes; null if the system does not report it. */
  readonly memory: number | null
}

/** The largest context of a test run, in tokens. */
const mostContext = 512
const texts = 4

/** Loads an embedding model in a separate process and measures it. Throws OperatorError if it cannot be loaded. */
export async function measureEmbeddings(file: string, trainedContext: number, log: Logger): Promise<EmbeddingSpeed> {
  const context = Math.min(mostContext, trainedContext)
  const startedAt = performance.now()
  const engine = createEmbeddingEngine({ id: 'check', file, context, dimensions: [], parallel: 1, log, grace: 0 })
  try {
    await engine.ready()
    const load = performance.now() - startedAt
    const { tokens } = await engine.count({ messages: [{ role: 'user', text: 'word' }] })
    const text = 'word '.repeat(Math.floor(context / tokens))
    const { tokensPerSecond, vectorLength } = await time(engine, text)
    return { load, read: tokensPerSecond, vectorLength, context, memory: memoryOf(engine.pid()) }
  } finally {
    await engine.close()
  }
}

async function time(engine: Model, text: string) {
  const messages = Array.from({ length: texts }, () => ({ role: 'user', text }) as const)
  const { signal } = new AbortController()
  const startedAt = performance.now()
  const made = await engine.embed?.({ messages }, { encoding: 'float' }, signal)
  const seconds = (performance.now() - startedAt) / 1000
  return { tokensPerSecond: (made?.usage.inputTokens ?? 0) / seconds, vectorLength: made?.vectors?.[0]?.length ?? 0 }
}
