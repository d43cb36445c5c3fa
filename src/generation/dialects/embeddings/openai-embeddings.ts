import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { compileBody } from '../../../platform/http/input/validation.ts'
import { embeddingsExample } from '../../examples.ts'
import type { Embeddings } from '../../generation.ts'
import { tagsOf, type TextRequest } from '../../request.ts'
import { metadata } from '../../schema.ts'
import { isFields, mustBe, withoutNeutral, withoutNullsIn } from '../body.ts'
import type { Vector } from '../../../models/model.ts'
import { pace } from '../../../platform/flow/pace.ts'

/** OpenAI's embeddings: `POST /v1/embeddings`. */

const mostTexts = 2048

const text = Type.String({ format: 'text', minLength: 1 })
const encodingFormat = Type.Enum(['float', 'base64'], {
  description:
    'How to write a vector: a list of numbers, or the base64 of 32-bit floats, little endian. Default: `float`.',
})
const fields = {
  model: Type.String({
    format: 'filled-text',
    maxLength: 256,
    description: 'The id or an alias of an embedding model.',
  }),
  dimensions: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_536,
      description: 'The numbers of each vector, where the model can shorten it.',
    }),
  ),
  encoding_format: Type.Optional(encodingFormat),
  metadata: Type.Optional(metadata),
}
const texts = Type.Array(text, { minItems: 1, maxItems: mostTexts })

export const embeddingsRequest = Type.Object(
  {
    ...fields,
    input: Type.Union([text, texts], {
      description: `A text, or a list of up to ${mostTexts} texts. Token arrays are not supported.`,
    }),
    user: Type.Optional(Type.String({ description: 'Ignored.' })),
  },
  { additionalProperties: false, examples: [embeddingsExample.request] },
)

export const embeddingsResponse = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer({ description: 'The index of its text in `input`.' }),
        embedding: Type.Union([
          Type.Array(Type.Number()),
          Type.String({ description: 'With encoding_format `base64`.' }),
        ]),
      }),
    ),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  { examples: [embeddingsExample.response] },
)

const checkRequest = compileBody(Type.Object({ ...fields, input: texts }, { additionalProperties: false }))
/** Checks a single text before it becomes a list, so that a refusal does not name a place in one. */
const checkSingleText = compileBody(Type.Object({ input: text }))

/** A parsed request, and how to write its reply. */
export interface EmbeddingsRequest {
  readonly request: TextRequest
  body(this: void, made: Embeddings): string | Readable
}

/** Parses the body of a request. Throws a Problem for its first fault. */
export function readEmbeddingsRequest(raw: unknown): EmbeddingsRequest {
  const kept = withoutNeutral(raw, { user: 'any value' })
  const {
    model,
    input,
    dimensions,
    encoding_format: encoding = 'float',
    metadata: pairs,
  } = checkRequest(isFields(kept) ? { ...withoutNullsIn(kept, ['metadata']), input: inputOf(kept['input']) } : kept)
  return {
    request: {
      model,
      prompt: { messages: input.map((each) => ({ role: 'user', text: each })) },
      stream: false,
      maxOutputTokens: 0,
      embedding: { dimensions, encoding },
      clientId: pairs?.client_id,
      tags: tagsOf(pairs),
      names: { maxOutputTokens: 'input', input: 'input', reducible: 'the number of texts' },
    },
    body: embeddingsBody,
  }
}

function inputOf(input: unknown): unknown {
  if (typeof input === 'string') return [checkSingleText({ input }).input]
  if (Array.isArray(input) && input.some((each) => typeof each === 'number' || Array.isArray(each))) {
    throw mustBe('input', 'a string or a list of strings: token arrays are not supported')
  }
  return input
}

/** Numbers up to which a body is written at once. */
const fewNumbers = 16_384
/** Characters of a base64 text that take as long to write as one number. */
const charactersPerNumber = 64

/** The body of a reply: a text, or for many numbers a stream, between whose pieces other work runs. */
function embeddingsBody(made: Embeddings): string | Readable {
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
