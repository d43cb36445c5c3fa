import type { Logger } from 'pino'
import { OperatorError } from '../../platform/problems.ts'
import { memoryOf } from '../../platform/system/processes.ts'
import type { Model } from '../model.ts'
import { createLocalEngine } from './engine.ts'
import { inspectModelFile } from './gguf.ts'

/** What a model file is and what it does on this machine. */
export interface ModelCheck {
  readonly architecture: string
  readonly parameters: number
  /** Tokens that it was trained for. */
  readonly trainedContext: number
  readonly vocabulary: number
  readonly hasChatTemplate: boolean
  readonly bytes: number
  /** What it does; null for a model without a chat template, which cannot be served. */
  readonly speed: Speed | null
}

export interface Speed {
  /** Milliseconds from the start of the process until it can be asked. */
  readonly load: number
  /** Tokens/s of a prompt that is read. */
  readonly prefill: number
  /** Tokens/s of a reply that is generated, one at a time. */
  readonly decode: number
  /** Tokens that prompt and reply had room for. */
  readonly context: number
  /** Bytes that its process held in memory then; null where the system does not say. */
  readonly memory: number | null
}

/** Tokens of the context that a check makes, at most: a larger one only takes memory. */
const mostContext = 1024
/** Of the context: how much is prompt when reading is timed, and how much is reply when generating is. */
const promptShare = 0.5
const replyShare = 0.25

/**
 * Loads a model file in a process of its own and tries it. Throws OperatorError with the reason when the file cannot be
 * used.
 */
export async function checkModel(file: string, { log }: { log: Logger }): Promise<ModelCheck> {
  const found = await inspectModelFile(file)
  if (!found.ok) throw new OperatorError(found.reason)
  const { architecture, parameters, trainedContext, vocabulary, hasChatTemplate, bytes } = found
  const speed = hasChatTemplate ? await measure(file, trainedContext, log) : null
  return { architecture, parameters, trainedContext, vocabulary, hasChatTemplate, bytes, speed }
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

/** A text that makes a prompt of about so many tokens, however long the words are in this vocabulary. */
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
  // At a temperature, so that a model that is no talker does not end at once every time.
  const { signal } = new AbortController()
  const { usage } = await model.run(prompt, { maxOutputTokens, temperature: 1, seed: 1 }, signal)
  return { ...usage, milliseconds: performance.now() - startedAt }
}
