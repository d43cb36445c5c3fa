import { stat } from 'node:fs/promises'
import { GgmlType, type LlamaContextSequence, type LlamaModel } from 'node-llama-cpp'
import { createBatching, type Batching } from './batching.ts'
import { createGrammars } from './grammars.ts'
import { openModel, type OpenModel } from './open-model.ts'
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

/** Loads a text model and creates one context with a sequence per slot. Throws as `openModel`. */
export function loadModel(order: LoadOrder, onProgress: () => void): Promise<LoadedModel> {
  return openModel(order, onProgress, (opened) => prepare(order, opened))
}

async function prepare(
  { file, context, parallel }: LoadOrder,
  { llama, model, cores }: OpenModel,
): Promise<LoadedModel> {
  const renderer = createRenderer(model)
  const threads = threadsFor((await stat(file)).size, cores)
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
}

function isUnquantised({ fileInfo }: LlamaModel): boolean {
  return (fileInfo.fullTensorInfo ?? []).every(({ ggmlType }) => unquantised.has(ggmlType))
}
