import { randomInt } from 'node:crypto'
import type { LlamaContextSequence, SequenceEvaluateOptions, Token } from 'node-llama-cpp'
import type { RunLimits, StopReason } from '../model.ts'
import type { Batching } from './batching.ts'
import type { GrammarSampling } from './grammars.ts'
import { createReplyText } from './reply-text.ts'
import type { GeneratedEnd } from './protocol.ts'

/** The number of seeds: llama.cpp reserves the largest value for a random seed. */
const seeds = 2 ** 32 - 1

export interface GenerateNeeds {
  /** With an empty history. */
  readonly sequence: Pick<LlamaContextSequence, 'model' | 'evaluate' | 'evaluateWithoutGeneratingNewTokens'>
  readonly prompt: readonly Token[]
  /** Tokens of the prompt per batch. */
  readonly chunkLength: number
  readonly beginReply: Batching['beginReply']
  readonly limits: RunLimits
  /** Only its texts are generated, up to the bounds in `limits`. */
  readonly grammar?: GrammarSampling | undefined
  readonly isEnd: (token: Token) => boolean
  readonly isCancelled: () => boolean
  /** Receives text that can be sent, in order, and the number of tokens so far. */
  readonly onText: (text: string, outputTokens: number) => void
  /** Called after every step of work. */
  readonly onProgress: () => void
}

/**
 * Generates one reply, token by token. Counts the tokens that were sampled and kept, without the end-of-text token. Stops
 * within one chunk of the prompt, or within one token of the reply, after a cancellation.
 */
export async function generateReply(needs: GenerateNeeds): Promise<GeneratedEnd> {
  const { sequence, prompt, limits, grammar, isEnd, isCancelled, beginReply, onText, onProgress } = needs
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
  for await (const token of sequence.evaluate(last, sampling(needs))) {
    onProgress()
    if (isEnd(token)) break
    if (outputTokens === 0) growing.use(beginReply())
    outputTokens += 1
    grammar?.added(token)
    const added = text.add(token)
    if (added.stopped) return ended('stop_sequence', added.text)
    onText(added.text, outputTokens)
    if (outputTokens === limits.maxOutputTokens) return ended('max_output_tokens', text.rest())
    if (isCancelled()) return ended('cancelled', text.rest())
  }
  return ended('complete', text.rest())
}

/** Evaluates all chunks of the prompt but the last one, which it returns. */
async function prefill({ sequence, prompt, chunkLength, isCancelled, onProgress }: GenerateNeeds): Promise<Token[]> {
  let at = 0
  for (; prompt.length - at > chunkLength && !isCancelled(); at += chunkLength) {
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(at, at + chunkLength), { contextShift: neverShift })
    onProgress()
  }
  return prompt.slice(at)
}

/** Turns off node-llama-cpp's defaults for `topK` and `topP`, so that only the caller's parameters apply. */
function sampling({ limits: { temperature = 0, topP = 1, seed }, grammar }: GenerateNeeds): SequenceEvaluateOptions {
  return {
    ...grammar?.options,
    temperature,
    topP,
    topK: 0,
    minP: 0,
    seed: seed === undefined ? randomInt(seeds) : ((seed % seeds) + seeds) % seeds,
    contextShift: neverShift,
  }
}

/** A context shift would silently drop the beginning of the prompt. The length was checked before, so this never runs. */
const neverShift = {
  strategy: (): never => {
    throw new Error('The sequence ran out of context.')
  },
}
