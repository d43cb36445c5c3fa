import { textOfMessage } from '../conversation.ts'
import type { Prompt } from '../model.ts'
import type { ChildWork } from './child-work.ts'
import type { Embedder } from './embedder.ts'
import type { EmbedOrder, FromChild, LoadOrder, ToChild } from './protocol.ts'

interface EmbeddingCallsNeeds<Token> {
  readonly order: LoadOrder
  readonly embedder: Embedder<Token>
  readonly work: ChildWork
  readonly send: (message: FromChild) => void
  /** Called after every step of work. */
  readonly onProgress: () => void
}

/** Answers the calls to an embedding model. */
export function createEmbeddingCalls<Token>(needs: EmbeddingCallsNeeds<Token>): (message: ToChild) => void {
  const { order, embedder, work, send, onProgress } = needs

  /** The tokens of the texts. Undefined if one is too long, which it reports. */
  async function read(id: number, { messages }: Prompt): Promise<readonly Token[][] | undefined> {
    const texts = await embedder.tokenise(messages.map(textOfMessage), () => work.isCancelled(id))
    onProgress()
    const place = texts.findIndex(({ length }) => length > order.context)
    if (place === -1) return texts
    send({ kind: 'too-long', id, tokens: texts[place]?.length ?? 0, place })
    return undefined
  }

  async function count(id: number, prompt: Prompt): Promise<void> {
    const texts = await read(id, prompt)
    if (!texts) return
    const tokens = texts.reduce((sum, { length }) => sum + length, 0)
    send({ kind: 'counted', id, tokens, vectorLength: embedder.vectorLength })
  }

  /** Requests in progress take turns, text by text. A cancelled one stops within one text. */
  async function embed({ id, prompt, dimensions }: EmbedOrder): Promise<void> {
    const texts = await read(id, prompt)
    if (!texts) return
    const vectors: Float32Array[] = []
    let tokens = 0
    for (const text of texts) {
      if (work.isCancelled(id)) break
      vectors.push(normalise(await embedder.embed(text), dimensions))
      tokens += text.length
      onProgress()
    }
    const isWhole = vectors.length === prompt.messages.length
    send({ kind: 'embedded', id, tokens, vectors: isWhole ? vectors : undefined })
  }

  return (message) => {
    if (message.kind === 'count') work.attempt(message.id, count(message.id, message.prompt))
    if (message.kind === 'embed') work.attempt(message.id, embed(message))
    if (message.kind === 'cancel') work.cancel(message.id)
  }
}

/** The first numbers of the vector, scaled to length 1. Throws an Error for a vector that has no direction. */
function normalise(vector: readonly number[], dimensions = vector.length): Float32Array {
  const kept = vector.slice(0, dimensions)
  const length = Math.sqrt(kept.reduce((sum, number) => sum + number * number, 0))
  if (!Number.isFinite(length) || length === 0) throw new Error('The model computed a vector without a direction.')
  return Float32Array.from(kept, (number) => number / length)
}
