import { Readable } from 'node:stream'
import type { Vector } from '../../../models/model.ts'
import { pace } from '../../../platform/flow/pace.ts'
import type { Embeddings } from '../../generation.ts'

/** Numbers up to which a body is written at once. */
const fewNumbers = 16_384
/** Characters of a base64 text that take as long to write as one number. */
const charactersPerNumber = 64

/** The body of a reply: a text, or for many numbers a stream, between whose pieces other work runs. */
export function embeddingsBody(made: Embeddings): string | Readable {
  const work = made.vectors.reduce((sum, vector) => sum + workOf(vector), 0)
  const pieces = piecesOf(made)
  return work <= fewNumbers ? [...pieces].join('') : Readable.from(paced(pieces))
}

const workOf = (vector: Vector): number =>
  typeof vector === 'string' ? vector.length / charactersPerNumber : vector.length

/** The body, with one piece for each vector. */
function* piecesOf({ reply: { model, usage }, vectors }: Embeddings): Generator<string, void, void> {
  const { inputTokens } = usage
  yield '{"object":"list","data":['
  for (const [index, vector] of vectors.entries()) {
    yield `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":${vectorText(vector)}}`
  }
  const end = { model, usage: { prompt_tokens: inputTokens, total_tokens: inputTokens } }
  yield `],${JSON.stringify(end).slice(1)}`
}

/** A typed array would be written as an object. Its numbers are finite. */
const vectorText = (vector: Vector): string =>
  vector instanceof Float32Array ? `[${vector.join()}]` : JSON.stringify(vector)

async function* paced(pieces: Iterable<string>): AsyncGenerator<string, void, void> {
  for (const piece of pieces) {
    yield piece
    await pace()
  }
}
