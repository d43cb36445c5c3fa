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
import type { LoadOrder } from './protocol.ts'
import { createRenderer, type Renderer } from './render.ts'
import { threadsFor } from './threads.ts'

/** A model in memory with room for its sequences. */
export interface LoadedModel {
  readonly renderer: Renderer
  readonly sequences: readonly LlamaContextSequence[]
  /** Tokens of a prompt that are read at once: a caller who leaves, and everybody else's next token, wait that long. */
  readonly chunkLength: number
  readonly batching: Batching
  readonly threads: number
}

/** Tokens of prompts that are read at once while no reply grows. */
const batchLength = 512

/** With weights of these types sharing a batch gains little, and being computed apart gives the same bits always. */
const unquantised: ReadonlySet<GgmlType> = new Set([GgmlType.F32, GgmlType.F16, GgmlType.BF16])

/** How llama.cpp begins to say what is wrong with a file; node-llama-cpp's own error says only that it failed. */
const complaint = 'error loading model: '
const complaintDelay = 100

/**
 * Loads the file and makes one context with a sequence for each run that may go on at the same time. Throws an Error
 * whose message is for the operator. A file that lacks certain settings ends the process instead.
 *
 * @param onProgress called after each step of it
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
    return { renderer, sequences, chunkLength, batching, threads }
  } catch (error) {
    // What llama.cpp complains of takes another way than the error, and may come after it.
    await setTimeout(complaintDelay)
    const told = complaints
      .find((line) => line.includes(complaint))
      ?.split(complaint)
      .at(-1)
    throw new Error(told ?? (error instanceof Error ? error.message : String(error)), { cause: error })
  }
}

/** What llama.cpp complains of goes to the error output, and the errors also into `complaints`. */
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

/** llama.cpp accepts any length and then talks nonsense. */
function assertTrainedFor({ trainContextSize }: LlamaModel, context: number): void {
  if (context <= trainContextSize) return
  throw new Error(
    `The model was trained for a context of ${trainContextSize} tokens; lower its context of ${context} in the configuration.`,
  )
}
