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
 * @param chunkLength tokens of a prompt that are read at once
 * @param isApart whether each batch has tokens of one run alone, so that no run's arithmetic depends on the others
 */
export function createBatching(chunkLength: number, isApart: boolean): Batching {
  let replies = 0
  const growing = (): number => replies
  return {
    nextBatch: isApart ? turns(growing) : sharedBatches(chunkLength, growing),
    beginReply() {
      replies += 1
      return {
        [Symbol.dispose]() {
          replies -= 1
        },
      }
    },
  }
}

/**
 * One after the other, in the order in which they ask. Between two chunks of prompts every reply that grows has its turn.
 * llama.cpp adds numbers up in another order for a batch of one token than for one of several, and cuts a chunk that
 * comes with others' tokens in two: results differ in their last bits, and now and then in a word.
 */
function turns(growing: () => number): CustomBatchingPrioritizationStrategy {
  let owed = 0
  return ({ items, size }) => {
    const token = items.find(isNextToken)
    const chunk = items.find((item) => !isNextToken(item))
    const next = owed > 0 ? (token ?? chunk) : (chunk ?? token)
    owed = next === chunk ? growing() : owed - 1
    return next ? fill([next], size) : []
  }
}

/**
 * What goes into the next batch: first the next token of every reply that grows, then chunks of prompts, whole and in
 * the order in which they came. A run asks for its next chunk when the last one is done, so that prompts take turns.
 *
 * While any reply grows, a batch has one chunk of prompts at most, so that no prompt holds up the replies for longer.
 * An empty batch lets replies that have not asked yet do so: without it one in eight would miss every other batch.
 * Chunks are not cut, as node-llama-cpp does by default: attention over fewer than 64 tokens of a sequence is slower on
 * a CPU, by 7 % of the whole.
 */
function sharedBatches(chunkLength: number, growing: () => number): CustomBatchingPrioritizationStrategy {
  let pauses = 0
  return ({ items, size }) => {
    const nextTokens = items.filter(isNextToken)
    if (nextTokens.length < growing() && pauses < mostPauses) {
      pauses += 1
      return []
    }
    pauses = 0
    const room = growing() === 0 ? size : Math.min(size, nextTokens.length + chunkLength)
    return fill([...nextTokens, ...items.filter((item) => !isNextToken(item))], room)
  }
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
