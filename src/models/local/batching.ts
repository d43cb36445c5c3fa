import type { CustomBatchingPrioritizationStrategy, PrioritizedBatchItem } from 'node-llama-cpp'

/**
 * What goes into the next batch: first the next token of every reply that is under way, so that no prompt holds them up
 * for longer than one chunk; then chunks of prompts, whole and in the order in which they came. A run asks for its next
 * chunk when the last one is done, so that prompts take turns. (Dealing out parts of chunks, as node-llama-cpp does by
 * default, costs 7 % more on a CPU: attention over fewer than 64 tokens of a sequence is slower.)
 */
export const nextBatch: CustomBatchingPrioritizationStrategy = ({ items, size }) => {
  const batch: PrioritizedBatchItem[] = []
  let room = size
  const inOrder = [...items.filter(isNextToken), ...items.filter((item) => !isNextToken(item))]
  for (const item of inOrder) {
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
