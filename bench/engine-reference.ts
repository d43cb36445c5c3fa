import { getLlama, type LlamaContextSequence } from 'node-llama-cpp'

/**
 * node-llama-cpp used directly, in its own process: the minimum that generates text. It evaluates a prompt, chooses the most
 * likely token each time and detokenizes the tokens at the end.
 */

/** The first message: what to load. The answer is `ready`. */
export interface ReferenceSetup {
  readonly file: string
  readonly context: number
  readonly parallel: number
  readonly threads: number
}

/** Every later message: a round with all prompts at once. The answer is a ReferenceResult. */
export interface ReferenceRound {
  readonly prompts: readonly string[]
  readonly outputTokens: number
}

export interface ReferenceResult {
  readonly outputTokens: number
  readonly milliseconds: number
}

const setup: ReferenceSetup = await received()
const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, progressLogs: false })
const model = await llama.loadModel({ modelPath: setup.file })
const context = await model.createContext({
  sequences: setup.parallel,
  contextSize: setup.context,
  threads: setup.threads,
})
const sequences = Array.from({ length: setup.parallel }, () => context.getSequence())

process.on('message', (round: ReferenceRound) => void play(round))
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send?.('ready')

function received(): Promise<ReferenceSetup> {
  return new Promise((resolve) => process.once('message', resolve))
}

async function play({ prompts, outputTokens }: ReferenceRound): Promise<void> {
  const startedAt = performance.now()
  const lengths = await Promise.all(
    prompts.map(async (prompt, index) => {
      const sequence = sequences[index]
      return sequence ? generate(sequence, prompt, outputTokens) : 0
    }),
  )
  const result: ReferenceResult = {
    outputTokens: lengths.reduce((sum, length) => sum + length, 0),
    milliseconds: performance.now() - startedAt,
  }
  process.send?.(result)
}

async function generate(sequence: LlamaContextSequence, prompt: string, maxTokens: number): Promise<number> {
  const tokens = []
  for await (const token of sequence.evaluate(model.tokenize(prompt, true), { temperature: 0 })) {
    tokens.push(token)
    if (tokens.length === maxTokens) break
  }
  model.detokenize(tokens)
  await sequence.clearHistory()
  return tokens.length
}
