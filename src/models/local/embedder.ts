import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { LlamaVocabularyType, type LlamaEmbeddingContext, type LlamaModel, type Token } from 'node-llama-cpp'
import { openModel, type OpenModel } from './open-model.ts'
import type { LoadOrder } from './protocol.ts'
import { createTextAppender } from './text-tokens.ts'
import { threadsFor } from './threads.ts'

/** An embedding model in memory. */
export interface Embedder<ModelToken> {
  /**
   * The tokens that the model evaluates for each text: those of the text, and those that the model expects around it. Text
   * that looks like a control token stays text. Once `isCancelled` returns true, the rest is skipped.
   */
  tokenise(texts: readonly string[], isCancelled: () => boolean): Promise<readonly ModelToken[][]>
  /** The vector of a text, as the model computes it. Texts are computed one at a time, in the order of the calls. */
  embed(tokens: readonly ModelToken[]): Promise<readonly number[]>
  /** How many numbers a vector has. */
  readonly vectorLength: number
  readonly threads: number
}

/** Characters of short texts that are tokenised without a pause for other work. */
const pauseAfter = 4096

/** Loads an embedding model and computes a first vector. Throws as `openModel`. */
export function loadEmbedder(order: LoadOrder, onProgress: () => void): Promise<Embedder<Token>> {
  return openModel(order, onProgress, (opened) => prepare(order, opened))
}

async function prepare({ file, context }: LoadOrder, { model, cores }: OpenModel): Promise<Embedder<Token>> {
  // A text is one batch: most of these models read a text in both directions, and llama.cpp ends the process on a part of
  // one. node-llama-cpp requires one place more than the text has tokens.
  const size = context + 1
  const threads = threadsFor((await stat(file)).size, cores)
  const room = await model.createEmbeddingContext({ contextSize: size, batchSize: size, threads })
  const tokenise = createTokeniser(model)
  const embed = createEmbed(room)
  const [tokens = []] = await tokenise(['a'], () => false)
  const { length: vectorLength } = await embed(tokens)
  if (vectorLength === 0) throw new Error('The model makes no vectors. Use a GGUF of an embedding model.')
  return { tokenise, embed, vectorLength, threads }
}

function createEmbed(room: LlamaEmbeddingContext): Embedder<Token>['embed'] {
  return async (tokens) => (await room.getEmbeddingFor([...tokens])).vector
}

function createTokeniser(model: LlamaModel): Embedder<Token>['tokenise'] {
  const { first, last } = tokensAround(model)
  const appendText = createTextAppender(model)
  return async (texts, isCancelled) => {
    const all: Token[][] = []
    let characters = 0
    for (const text of texts) {
      if (isCancelled()) break
      const tokens: Token[] = []
      await appendText(tokens, text, isCancelled)
      all.push([...first, ...tokens, ...last])
      characters += text.length
      if (characters < pauseAfter) continue
      characters = 0
      await setImmediate()
    }
    return all
  }
}

/**
 * The tokens that llama.cpp's own tokenizer puts around a text. node-llama-cpp leaves out the first one for the vocabulary
 * of XLM-RoBERTa (`ugm`), without which its models make other vectors.
 */
function tokensAround({ tokens, vocabularyType }: LlamaModel): { first: readonly Token[]; last: readonly Token[] } {
  const { bos, eos, sep } = tokens
  const isWordPiece = vocabularyType === LlamaVocabularyType.wpm
  const isUnigram = vocabularyType === LlamaVocabularyType.ugm
  const first = isWordPiece || tokens.shouldPrependBosToken ? bos : null
  const end = isUnigram || tokens.shouldAppendEosToken ? eos : null
  return { first: listOf(first), last: listOf(isWordPiece ? sep : end) }
}

const listOf = (token: Token | null): readonly Token[] => (token === null ? [] : [token])
