import type { CustomBatchingPrioritizationStrategy, PrioritizedBatchItem } from 'node-llama-cpp'

/** Decides which tokens go into the next batch of a context. */
export interface Batching {
  /** node-llama-cpp calls it before each batch. */
  readonly nextBatch: CustomBatchingPrioritizationStrategy
  /** Reserves one token of every batch for a reply, until the result is disposed of. */
  readonly beginReply: () => Disposable
}

/** Most empty batches in a row. Replies request their next token a few microtasks after a batch; three pauses are enough. */
const mostPauses = 16

/**
 * @param chunkLength tokens of a prompt per batch
 * @param isApart whether each batch contains tokens of one run only, so that results do not depend on other runs
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
 * Serves one run per batch, in the order of the requests. Between two chunks of prompts, every reply gets a turn. llama.cpp
 * sums in a different order for a batch of one token than for a larger one, and splits a chunk that shares a batch. The
 * results then differ in their last bits, and occasionally in a word.
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
 * Fills each batch with the next token of every reply in progress, then with whole chunks of prompts in the order of their
 * arrival. A run requests its next chunk when the previous one is done, so prompts take turns.
 *
 * While a reply is in progress, a batch contains at most one chunk, which bounds the delay that a prompt causes. An empty
 * batch gives replies time to request their next token: without it, one in eight would miss every other batch. Chunks are
 * not cut, as node-llama-cpp does by default: attention over fewer than 64 tokens of a sequence costs a CPU 7 % of its
 * throughput.
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
    // The first item is cut to fit, because it may be longer than any batch.
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
