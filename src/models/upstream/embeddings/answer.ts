import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { pace } from '../../../platform/flow/pace.ts'
import { base64OfFloats, floatBytes } from '../../embeddings.ts'
import type { EmbeddingOptions, Vector } from '../../model.ts'
import { parse } from '../chat/chat-completions.ts'
import { readUsageOf, UsageField } from '../chat/chat-usage.ts'
import { unusable } from '../failure.ts'
import { createListReader } from '../chat/list-reader.ts'
import type { Reception } from '../pool/reception.ts'
import { mostTokens } from '../usage.ts'

const mostNumbers = 65_536

/** The most bytes of an answer: of one embedding, of everything else, and of all embeddings together. */
const mostBytes = { item: 512 * 1024, rest: 256 * 1024, all: 128 * 1024 * 1024 }

/** The most bytes of an answer for this number of texts. */
export const mostAnswerBytes = (texts: number): number =>
  Math.min(mostBytes.all, mostBytes.rest + mostBytes.item * texts)

// The fields of a `POST /embeddings` response that are used. Other fields are ignored.
const itemFields = Compile(
  Type.Object({ index: Type.Optional(Type.Integer({ minimum: 0 })), embedding: Type.Unknown() }),
)
const Answer = Type.Object({
  data: Type.Array(Type.Unknown()),
  usage: UsageField,
})
const answerFields = Compile(Answer)
const numbers = Compile(Type.Array(Type.Number(), { minItems: 1, maxItems: mostNumbers }))

/** What an upstream answered. */
export interface EmbeddingAnswer {
  readonly vectors: readonly Vector[]
  readonly inputTokens: number | undefined
}

/**
 * Reads the vectors, in the order of the texts, while they arrive. 2048 vectors that are written as numbers take half a
 * second to parse. They are parsed one by one, so that other work runs in between, and only they stay in memory. In a worker
 * thread they could be parsed at once, but it would need a heap of its own, which a bad answer could exhaust.
 *
 * Some servers return numbers, whatever the encoding. Resolves with undefined if the caller disconnects. Throws Failure,
 * which does not quote the answer.
 */
export async function readEmbeddings(
  reception: Pick<Reception, 'read'>,
  texts: number,
  encoding: EmbeddingOptions['encoding'],
): Promise<EmbeddingAnswer | undefined> {
  const vectors = createVectors(texts, encoding)
  const answer = await readAnswer(reception, vectors.add)
  if (answer === undefined) return undefined
  // Some servers report only the total, which is that of the input.
  const { prompt, total } = readUsageOf(answer, undefined) ?? {}
  const tokens = prompt ?? total
  return {
    vectors: vectors.all(answer.data.length),
    inputTokens: tokens === undefined ? undefined : Math.min(tokens, mostTokens),
  }
}

/** Passes the items of the list to `add`. Resolves with the answer around them, or with undefined if the caller disconnects. */
async function readAnswer(
  reception: Pick<Reception, 'read'>,
  add: (each: unknown) => void,
): Promise<Static<typeof Answer> | undefined> {
  let chunk = await reception.read()
  let next = await reception.read()
  // Most answers are for one text and arrive as one chunk, which is parsed as a whole in half the time.
  if (typeof chunk !== 'string' && next === 'end') {
    const answer = checkAnswer(parse(chunk.toString()))
    answer.data.forEach(add)
    return answer
  }
  const list = createListReader('data', mostBytes)
  for (; typeof chunk !== 'string'; [chunk, next] = [next, await reception.read()]) {
    for (const each of list.push(chunk)) {
      add(each)
      await pace()
    }
  }
  return chunk === 'end' ? checkAnswer(list.end()) : undefined
}

function checkAnswer(answer: unknown): Static<typeof Answer> {
  if (!answerFields.Check(answer)) throw unusable('not embeddings')
  return answer
}

/** Collects the vectors of this number of texts. Methods throw Failure. */
function createVectors(texts: number, encoding: EmbeddingOptions['encoding']) {
  const vectors = new Map<number, Vector>()
  const lengths = new Set<number>()

  return {
    add(this: void, each: unknown): void {
      if (!itemFields.Check(each)) throw unusable('not embeddings')
      const { index = vectors.size, embedding } = each
      if (index >= texts || vectors.has(index)) throw unusable('an embedding of no text')
      const { vector, length } = vectorOf(embedding, encoding)
      vectors.set(index, vector)
      lengths.add(length)
    },
    /** In the order of the texts. `items` is the length of the list that they are from. */
    all(items: number): readonly Vector[] {
      if (items !== texts || vectors.size !== texts || lengths.size !== 1) {
        throw unusable('not one embedding of the same length for each text')
      }
      return [...vectors].toSorted(([one], [other]) => one - other).map(([, vector]) => vector)
    },
  }
}

/** A vector in the encoding, and how many numbers it has. */
function vectorOf(embedding: unknown, encoding: EmbeddingOptions['encoding']): { vector: Vector; length: number } {
  if (typeof embedding === 'string') {
    const bytes = bytesOf(embedding)
    return { vector: encoding === 'float' ? floatsOf(bytes) : embedding, length: bytes.length / floatBytes }
  }
  if (!numbers.Check(embedding)) throw unusable('not embeddings')
  return { vector: encoding === 'float' ? embedding : base64OfFloats(embedding), length: embedding.length }
}

function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  const length = bytes.length / floatBytes
  if (length === 0 || !Number.isInteger(length) || length > mostNumbers || bytes.toString('base64') !== text) {
    throw unusable('an embedding that is not the base64 of 32-bit floats')
  }
  return bytes
}

function floatsOf(bytes: Buffer): Float32Array {
  // A copy, which begins at a multiple of four bytes. All platforms that run Node are little endian.
  const floats = new Float32Array(new Uint8Array(bytes).buffer)
  // Takes a seventh of the time of a check of each number.
  if ([NaN, Infinity, -Infinity].some((each) => floats.includes(each))) {
    throw unusable('an embedding with something other than numbers')
  }
  return floats
}
