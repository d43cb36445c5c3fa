import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { getLlama, LlamaLogLevel, LlamaLogLevelGreaterThan, type Llama, type LlamaModel } from 'node-llama-cpp'
import type { LoadOrder } from './protocol.ts'

/** The prefix of llama.cpp's message about a bad file. The error of node-llama-cpp contains no reason. */
const complaint = 'error loading model: '
const complaintDelay = 100

/** A model in memory, without a context. */
export interface OpenModel {
  readonly llama: Llama
  readonly model: LlamaModel
  /** Processor cores that it may compute with. */
  readonly cores: number
}

/**
 * Loads the file and passes it to `prepare`. Throws an Error whose message is for the operator. If the file lacks certain
 * settings, llama.cpp ends the process instead.
 *
 * @param onProgress called after each step
 */
export async function openModel<Prepared>(
  { file, context }: LoadOrder,
  onProgress: () => void,
  prepare: (opened: OpenModel) => Promise<Prepared>,
): Promise<Prepared> {
  const complaints: string[] = []
  try {
    const llama = await startLlama(complaints)
    onProgress()
    const model = await llama.loadModel({ modelPath: file, onLoadProgress: onProgress })
    assertTrainedFor(model, context)
    return await prepare({ llama, model, cores: Math.min(llama.cpuMathCores, availableParallelism()) })
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

/** llama.cpp accepts any context length, but beyond the trained one the results are nonsense. */
function assertTrainedFor({ trainContextSize }: LlamaModel, context: number): void {
  if (context <= trainContextSize) return
  throw new Error(
    `The model was trained for a context of ${trainContextSize} tokens; lower its context of ${context} in the configuration.`,
  )
}

/** npm packages with a GPU build of llama.cpp. The operator installs them explicitly. */
const builds: Readonly<Record<string, readonly string[]>> = {
  'linux-x64': ['linux-x64-cuda', 'linux-x64-vulkan'],
  'linux-arm64': ['linux-arm64-vulkan'],
  'win32-x64': ['win-x64-cuda', 'win-x64-vulkan'],
  'darwin-arm64': ['mac-arm64-metal'],
}

/** Whether a GPU build of llama.cpp is installed. Builds and downloads nothing. */
function hasGpuBuild(): boolean {
  return (builds[`${process.platform}-${process.arch}`] ?? []).some((name) => isInstalled(`@node-llama-cpp/${name}`))
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
