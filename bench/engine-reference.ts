import { getLlama, type LlamaContextSequence } from 'node-llama-cpp'

/**
 * node-llama-cpp used directly, in a process of its own: the least that generates. It reads a prompt, takes the
 * likeliest token each time and turns the tokens into text at the end.
 */

/** The first message: what to load. Answered with `ready`. */
export interface ReferenceOrder {
  readonly file: string
  readonly context: number
  readonly parallel: number
  readonly threads: number
}

/** Every later message: a round, all prompts at once. Answered with a ReferenceResult. */
export interface ReferenceRound {
  readonly prompts: readonly string[]
  readonly outputTokens: number
}

export interface ReferenceResult {
  readonly outputTokens: number
  readonly milliseconds: number
}

const order: ReferenceOrder = await received()
const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, progressLogs: false })
const model = await llama.loadModel({ modelPath: order.file })
const context = await model.createContext({
  sequences: order.parallel,
  contextSize: order.context,
  threads: order.threads,
})
const sequences = Array.from({ length: order.parallel }, () => context.getSequence())

process.on('message', (round: ReferenceRound) => void play(round))
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send?.('ready')

function received(): Promise<ReferenceOrder> {
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

async function generate(sequence: LlamaContextSequence, prompt: string, most: number): Promise<number> {
  const tokens = []
  for await (const token of sequence.evaluate(model.tokenize(prompt, true), { temperature: 0 })) {
    tokens.push(token)
    if (tokens.length === most) break
  }
  model.detokenize(tokens)
  await sequence.clearHistory()
  return tokens.length
}
