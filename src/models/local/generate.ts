import { randomInt } from 'node:crypto'
import type { LlamaContextSequence, SequenceEvaluateOptions, Token } from 'node-llama-cpp'
import type { RunLimits, StopReason } from '../model.ts'
import type { Batching } from './batching.ts'
import { createReplyText } from './reply-text.ts'
import type { GeneratedEnd } from './protocol.ts'

/** llama.cpp takes the largest seed for "choose one yourself". */
const seeds = 2 ** 32 - 1

export interface GenerateNeeds {
  /** With an empty history. */
  readonly sequence: Pick<LlamaContextSequence, 'model' | 'evaluate' | 'evaluateWithoutGeneratingNewTokens'>
  readonly prompt: readonly Token[]
  /** Tokens of the prompt that are read at once. */
  readonly chunkLength: number
  readonly beginReply: Batching['beginReply']
  readonly limits: RunLimits
  readonly isEnd: (token: Token) => boolean
  readonly isCancelled: () => boolean
  /** Text that is certain, in order, with the tokens that the reply has by then. */
  readonly onText: (text: string, outputTokens: number) => void
  /** Called after every step of work, to show that there is progress. */
  readonly onProgress: () => void
}

/**
 * Generates one reply, token by token. Counts exactly the tokens that were sampled and kept; the token that ends the
 * text is not one of them. Heeds a cancellation within one chunk of the prompt, and within one token after that.
 */
export async function generateReply(needs: GenerateNeeds): Promise<GeneratedEnd> {
  const { sequence, prompt, limits, isEnd, isCancelled, beginReply, onText, onProgress } = needs
  const text = createReplyText<Token>(
    (tokens, before) => sequence.model.detokenize(tokens, false, before),
    limits.stop ?? [],
  )
  let outputTokens = 0
  const ended = (stopReason: StopReason, rest: string): GeneratedEnd => ({
    text: rest,
    stopReason,
    inputTokens: prompt.length,
    outputTokens,
  })

  const last = await prefill(needs)
  if (isCancelled()) return ended('cancelled', '')
  using growing = new DisposableStack()
  for await (const token of sequence.evaluate(last, sampling(limits))) {
    onProgress()
    if (isEnd(token)) break
    if (outputTokens === 0) growing.use(beginReply())
    outputTokens += 1
    const added = text.add(token)
    if (added.stopped) return ended('stop_sequence', added.text)
    onText(added.text, outputTokens)
    if (outputTokens === limits.maxOutputTokens) return ended('max_output_tokens', text.rest())
    if (isCancelled()) return ended('cancelled', text.rest())
  }
  return ended('complete', text.rest())
}

/** Reads the prompt in chunks up to the last one, and returns that. */
async function prefill({ sequence, prompt, chunkLength, isCancelled, onProgress }: GenerateNeeds): Promise<Token[]> {
  let at = 0
  for (; prompt.length - at > chunkLength && !isCancelled(); at += chunkLength) {
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(at, at + chunkLength), { contextShift: neverShift })
    onProgress()
  }
  return prompt.slice(at)
}

/** Nothing but what the caller asked for shapes the choice: node-llama-cpp's own defaults for `topK` and `topP` do not. */
function sampling({ temperature = 0, topP = 1, seed }: RunLimits): SequenceEvaluateOptions {
  return {
    temperature,
    topP,
    topK: 0,
    minP: 0,
    seed: seed === undefined ? randomInt(seeds) : ((seed % seeds) + seeds) % seeds,
    contextShift: neverShift,
  }
}

/** A shift would drop the beginning of the prompt without a word. Room is checked before; this is the second lock. */
const neverShift = {
  strategy: (): never => {
    throw new Error('The sequence ran out of context.')
  },
}
