import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import {
  getLlama,
  GgmlType,
  LlamaLogLevel,
  LlamaLogLevelGreaterThan,
  type Llama,
  type LlamaContextSequence,
  type LlamaModel,
} from 'node-llama-cpp'
import { createBatching, type Batching } from './batching.ts'
import { hasGpuBuild } from './gpu.ts'
import { createGrammars } from './grammars.ts'
import type { LoadOrder } from './protocol.ts'
import { createRenderer, type Renderer } from './render.ts'
import { threadsFor } from './threads.ts'

/** A model in memory and its sequences. */
export interface LoadedModel {
  readonly renderer: Renderer
  /** Begins a reply within a grammar. */
  readonly grammars: ReturnType<typeof createGrammars>
  readonly sequences: readonly LlamaContextSequence[]
  /** Tokens of a prompt per batch. Cancellations, and the next tokens of other replies, wait for one such batch. */
  readonly chunkLength: number
  readonly batching: Batching
  readonly threads: number
}

/** Tokens of prompts per batch while no reply is in progress. */
const batchLength = 512

/** With weights of these types, sharing batches gains little, and separate batches make results reproducible. */
const unquantised: ReadonlySet<GgmlType> = new Set([GgmlType.F32, GgmlType.F16, GgmlType.BF16])

/** The prefix of llama.cpp's message about a bad file. The error of node-llama-cpp contains no reason. */
const complaint = 'error loading model: '
const complaintDelay = 100

/**
 * Loads the file and creates one context with a sequence per slot. Throws an Error whose message is for the operator. If
 * the file lacks certain settings, llama.cpp ends the process instead.
 *
 * @param onProgress called after each step
 */
export async function loadModel({ file, context, parallel }: LoadOrder, onProgress: () => void): Promise<LoadedModel> {
  const complaints: string[] = []
  try {
    const llama = await startLlama(complaints)
    onProgress()
    const model = await llama.loadModel({ modelPath: file, onLoadProgress: onProgress })
    assertTrainedFor(model, context)
    const renderer = createRenderer(model)
    const threads = threadsFor((await stat(file)).size, Math.min(llama.cpuMathCores, availableParallelism()))
    const chunkLength = llama.gpu === false ? 128 : batchLength
    const isApart = llama.gpu === false && isUnquantised(model)
    const batching = createBatching(chunkLength, isApart)
    const room = await model.createContext({
      sequences: parallel,
      contextSize: context,
      batchSize: isApart ? chunkLength : batchLength + parallel,
      batching: { itemPrioritizationStrategy: batching.nextBatch },
      threads,
      failedCreationRemedy: false,
    })
    const sequences = Array.from({ length: parallel }, () => room.getSequence())
    return { renderer, grammars: createGrammars(model), sequences, chunkLength, batching, threads }
  } catch (error) {
    // llama.cpp's message takes a different path than the error and may arrive later.
    await setTimeout(complaintDelay)
    const reported = complaints
      .find((line) => line.includes(complaint))
      ?.split(complaint)
      .at(-1)
    throw new Error(reported ?? (error instanceof Error ? error.message : String(error)), { cause: error })
  }
}

/** Writes llama.cpp's warnings and errors to stderr, and the errors to `complaints` as well. */
function startLlama(complaints: string[]): Promise<Llama> {
  return getLlama({
    gpu: hasGpuBuild() ? 'auto' : false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.warn,
    logger(level, message) {
      process.stderr.write(`${level}: ${message.trim()}\n`)
      if (!LlamaLogLevelGreaterThan(level, LlamaLogLevel.error)) complaints.push(message.trim())
    },
  })
}

function isUnquantised({ fileInfo }: LlamaModel): boolean {
  return (fileInfo.fullTensorInfo ?? []).every(({ ggmlType }) => unquantised.has(ggmlType))
}

/** llama.cpp accepts any context length, but beyond the trained one the replies are nonsense. */
function assertTrainedFor({ trainContextSize }: LlamaModel, context: number): void {
  if (context <= trainContextSize) return
  throw new Error(
    `The model was trained for a context of ${trainContextSize} tokens; lower its context of ${context} in the configuration.`,
  )
}
