import type { Logger } from 'pino'
import { OperatorError } from '../../platform/problems.ts'
import { memoryOf } from '../../platform/system/processes.ts'
import type { Model } from '../model.ts'
import { createEmbeddingEngine } from './embedding-engine.ts'
import { createLocalEngine } from './engine.ts'
import type { FilePurpose } from './file-purpose.ts'
import { inspectModelFile } from './gguf.ts'

/** The facts of a model file and its speed on this machine. */
export interface ModelCheck {
  readonly architecture: string
  readonly parameters: number
  /** The context length of its training, in tokens. */
  readonly trainedContext: number
  readonly vocabulary: number
  readonly hasChatTemplate: boolean
  readonly purpose: FilePurpose
  readonly bytes: number
  /** Null for a model that does not make text, or has no chat template. */
  readonly speed: Speed | null
  /** Null for a model that does not make embeddings. */
  readonly embedding: EmbeddingSpeed | null
}

export interface Speed {
  /** Milliseconds from the start of the process until it is ready. */
  readonly load: number
  /** Prompt tokens read per second. */
  readonly prefill: number
  /** Reply tokens generated per second, for one reply at a time. */
  readonly decode: number
  /** Context of the test run, in tokens. */
  readonly context: number
  /** Resident memory of the process in bytes; null if the system does not report it. */
  readonly memory: number | null
}

/** The largest context of a test run, in tokens. A larger context would only take memory. */
const mostContext = 1024
/** Shares of the context: the prompt when reading is timed, and the reply when generating is timed. */
const promptShare = 0.5
const replyShare = 0.25

/**
 * Loads a model file in a separate process and measures it. Throws OperatorError with the reason if the file cannot be
 * used.
 */
export async function checkModel(file: string, { log }: { log: Logger }): Promise<ModelCheck> {
  const found = await inspectModelFile(file)
  if (!found.ok) throw new OperatorError(found.reason)
  const { ok: _, ...facts } = found
  const { purpose, trainedContext } = facts
  const speed = purpose === 'text' ? await measure(file, trainedContext, log) : null
  const embedding = purpose === 'embeddings' ? await measureEmbeddings(file, trainedContext, log) : null
  return { ...facts, speed, embedding }
}

async function measure(file: string, trainedContext: number, log: Logger): Promise<Speed> {
  const startedAt = performance.now()
  const context = Math.min(mostContext, trainedContext)
  const maxOutputTokens = Math.floor(context * replyShare)
  const engine = createLocalEngine({ id: 'check', file, context, maxOutputTokens, parallel: 1, log, grace: 0 })
  try {
    await engine.ready()
    const load = performance.now() - startedAt
    await time(engine, 'Hello', 1)
    const read = await time(engine, await textOfLength(engine, context * promptShare), 1)
    const said = await time(engine, 'Tell a long story.', maxOutputTokens)
    return {
      load,
      prefill: (read.inputTokens / read.milliseconds) * 1000,
      decode: (said.outputTokens / said.milliseconds) * 1000,
      context,
      memory: memoryOf(engine.pid()),
    }
  } finally {
    await engine.close()
  }
}

/** A text of about this many tokens, whatever the vocabulary. */
async function textOfLength(model: Model, tokens: number): Promise<string> {
  const text = 'word '.repeat(tokens)
  const counted = await model.count({ messages: [{ role: 'user', text }] })
  return text.slice(0, Math.floor((text.length * tokens) / counted.tokens))
}

interface Timing {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly milliseconds: number
}

async function time(model: Model, text: string, maxOutputTokens: number): Promise<Timing> {
  const startedAt = performance.now()
  const prompt = { messages: [{ role: 'user', text } as const] }
  // With temperature 0, some models would always end at once.
  const { signal } = new AbortController()
  const { usage } = await model.run(prompt, { maxOutputTokens, temperature: 1, seed: 1 }, signal)
  return { ...usage, milliseconds: performance.now() - startedAt }
}

/** How fast an embedding model reads texts on this machine. */
interface EmbeddingSpeed {
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

/** The largest context of a test run of an embedding model, in tokens. */
const mostEmbeddingContext = 512
const measuredTexts = 4

/** Loads an embedding model in a separate process and measures it. Throws OperatorError if it cannot be loaded. */
async function measureEmbeddings(file: string, trainedContext: number, log: Logger): Promise<EmbeddingSpeed> {
  const context = Math.min(mostEmbeddingContext, trainedContext)
  const startedAt = performance.now()
  const engine = createEmbeddingEngine({ id: 'check', file, context, dimensions: [], parallel: 1, log, grace: 0 })
  try {
    await engine.ready()
    const load = performance.now() - startedAt
    const { tokens } = await engine.count({ messages: [{ role: 'user', text: 'word' }] })
    const text = 'word '.repeat(Math.floor(context / tokens))
    const { tokensPerSecond, vectorLength } = await timeEmbeddings(engine, text)
    return { load, read: tokensPerSecond, vectorLength, context, memory: memoryOf(engine.pid()) }
  } finally {
    await engine.close()
  }
}

async function timeEmbeddings(engine: Model, text: string) {
  const messages = Array.from({ length: measuredTexts }, () => ({ role: 'user', text }) as const)
  const { signal } = new AbortController()
  const startedAt = performance.now()
  const made = await engine.embed?.({ messages }, { encoding: 'float' }, signal)
  const seconds = (performance.now() - startedAt) / 1000
  return { tokensPerSecond: (made?.usage.inputTokens ?? 0) / seconds, vectorLength: made?.vectors?.[0]?.length ?? 0 }
}
