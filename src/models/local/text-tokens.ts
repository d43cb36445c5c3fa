import { setImmediate } from 'node:timers/promises'
import type { LlamaModel, Token } from 'node-llama-cpp'
import { slicesOf } from '../text-slices.ts'
import { createLendingPool } from './lending-pool.ts'

/**
 * The most characters per call of the tokenizer. Some tokenizers of llama.cpp recurse once per character of an unbroken run
 * and crash the process at about 20 000 characters. The call also blocks everything else.
 */
const sliceLength = 4096

/**
 * Adds the tokens of a text to `tokens`. Text that looks like a control token stays text.
 *
 * Long texts take turns slice by slice, and other work runs after each slice. Several long texts therefore delay a reply no
 * more than one does.
 */
export function createTextAppender(model: LlamaModel) {
  const turns = createLendingPool(['the turn'])

  function slice(tokens: Token[], text: string): void {
    append(tokens, model.tokenize(text, false, tokens.length > 0 ? 'trimLeadingSpace' : undefined))
  }

  return async (tokens: Token[], text: string, isCancelled: () => boolean): Promise<void> => {
    if (text.length <= sliceLength) return slice(tokens, text)
    for (const part of slicesOf(text, sliceLength)) {
      if (isCancelled()) return
      const turn = await turns.take()
      try {
        if (!isCancelled()) slice(tokens, part)
      } finally {
        void setImmediate().then(() => turns.giveBack(turn))
      }
    }
  }
}

/** Pushes one by one, because spreading a very long array overflows the stack. */
export function append(tokens: Token[], more: readonly Token[]): void {
  for (const token of more) tokens.push(token)
}
