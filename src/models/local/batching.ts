import type { CustomBatchingPrioritizationStrategy, PrioritizedBatchItem } from 'node-llama-cpp'

/** How the runs on one context share its batches. */
export interface Batching {
  /** For node-llama-cpp, which asks before each batch. */
  readonly nextBatch: CustomBatchingPrioritizationStrategy
  /** Tells that a reply has begun to grow, and will want a token of every batch until this is disposed of. */
  readonly beginReply: () => Disposable
}

/** Replies ask for their next token some promises after the last batch; three empty batches are enough for all. */
const mostPauses = 16

/**
 * What goes into the next batch: first the next token of every reply that grows, then chunks of prompts, whole and in
 * the order in which they came. A run asks for its next chunk when the last one is done, so that prompts take turns.
 *
 * While any reply grows, a batch has one chunk of prompts at most, so that no prompt holds up the replies for longer.
 * An empty batch lets replies that have not asked yet do so: without it one in eight would miss every other batch.
 * Chunks are not cut, as node-llama-cpp does by default: attention over fewer than 64 tokens of a sequence is slower on
 * a CPU, by 7 % of the whole.
 */
export function createBatching(chunkLength: number): Batching {
  let replies = 0
  let pauses = 0

  function nextBatch({ items, size }: Parameters<CustomBatchingPrioritizationStrategy>[0]): PrioritizedBatchItem[] {
    const nextTokens = items.filter(isNextToken)
    if (nextTokens.length < replies && pauses < mostPauses) {
      pauses += 1
      return []
    }
    pauses = 0
    const room = replies === 0 ? size : Math.min(size, nextTokens.length + chunkLength)
    return fill([...nextTokens, ...items.filter((item) => !isNextToken(item))], room)
  }

  function beginReply(): Disposable {
    replies += 1
    return {
      [Symbol.dispose]() {
        replies -= 1
      },
    }
  }

  return { nextBatch, beginReply }
}

function fill(items: readonly PrioritizedBatchItem['item'][], size: number): PrioritizedBatchItem[] {
  const batch: PrioritizedBatchItem[] = []
  let room = size
  for (const item of items) {
    const { length } = item.tokens
    // The first goes in as far as there is room: it may be longer than any batch.
    if (length > room && batch.length > 0) continue
    const processAmount = Math.min(length, room)
    batch.push({ item, processAmount })
    room -= processAmount
  }
  return batch
}

function isNextToken({ tokens }: PrioritizedBatchItem['item']): boolean {
  return tokens.length === 1
}
