import { getRandomValues } from 'node:crypto'
import { readGgufFileInfo } from 'node-llama-cpp'
import { writeGguf, type MetadataValue, type TensorToWrite } from './gguf-writer.ts'

/** The shape of a model of the llama architecture whose heads have 64 dimensions. */
export interface Shape {
  readonly width: number
  readonly layers: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly feedForward: number
  readonly context: number
}

/** 0.51 billion parameters in all. */
export const halfBillion: Shape = {
  width: 1024,
  layers: 28,
  heads: 16,
  keyValueHeads: 8,
  feedForward: 4864,
  context: 4096,
}

/** Weights in the 4-bit blocks of ggml's Q4_0: 32 weights in 18 bytes, a half-precision scale first. */
const block = { type: 2, weights: 32, bytes: 18 }
const controlTokenType = 3

/** A token of printable text. Byte-pair vocabularies write a space as `Ġ` and a line break as `Ċ`. */
const plainText = /^[!-~ĠĊ]+$/u

/** The maximum number of bytes that one call of Web Crypto fills. */
const randomChunk = 65_536

/**
 * Half-precision scales of the weights. The layers' scale keeps activations finite through any number of layers. The
 * embedding's is larger, so that the last token outweighs the earlier ones and replies differ.
 */
const scales = { layer: 0x18_00, embedding: 0x28_00 }

function randomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += randomChunk) getRandomValues(bytes.subarray(at, at + randomChunk))
  return bytes
}

/** A 4-bit weight has an offset of 8. Replacing 0 with 8 makes positive and negative weights equally frequent. */
const balanced = Uint8Array.from({ length: 256 }, (_, byte) => byte | (byte & 0x0f ? 0 : 8) | (byte & 0xf0 ? 0 : 0x80))

/** Random weights. Rows in `zeroRows` are zero, so that the output never chooses those tokens. */
function quantised(
  name: string,
  columns: number,
  rows: number,
  { scale = scales.layer, zeroRows = [] }: { scale?: number; zeroRows?: readonly number[] } = {},
): TensorToWrite {
  const rowBytes = (columns / block.weights) * block.bytes
  const bytes = (): Uint8Array => {
    const data = randomBytes(rowBytes * rows).map((byte) => balanced[byte] ?? 0)
    const view = new DataView(data.buffer)
    for (let at = 0; at < data.length; at += block.bytes) view.setUint16(at, scale, true)
    for (const row of zeroRows) data.fill(0, row * rowBytes, (row + 1) * rowBytes)
    return data
  }
  return { name, dimensions: [columns, rows], type: block.type, byteLength: rowBytes * rows, bytes }
}

function ones(name: string, length: number): TensorToWrite {
  const bytes = (): Uint8Array => new Uint8Array(new Float32Array(length).fill(1).buffer)
  return { name, dimensions: [length], type: 0, byteLength: length * 4, bytes }
}

function layer(shape: Shape, index: number): TensorToWrite[] {
  const { width, feedForward } = shape
  const [queries, keys] = [shape.heads * 64, shape.keyValueHeads * 64]
  const prefix = `blk.${index}`
  return [
    ones(`${prefix}.attn_norm.weight`, width),
    quantised(`${prefix}.attn_q.weight`, width, queries),
    quantised(`${prefix}.attn_k.weight`, width, keys),
    quantised(`${prefix}.attn_v.weight`, width, keys),
    quantised(`${prefix}.attn_output.weight`, queries, width),
    ones(`${prefix}.ffn_norm.weight`, width),
    quantised(`${prefix}.ffn_gate.weight`, width, feedForward),
    quantised(`${prefix}.ffn_up.weight`, width, feedForward),
    quantised(`${prefix}.ffn_down.weight`, feedForward, width),
  ]
}

function shapeMetadata(shape: Shape): [string, MetadataValue][] {
  return [
    ['general.architecture', 'llama'],
    ['llama.context_length', shape.context],
    ['llama.embedding_length', shape.width],
    ['llama.block_count', shape.layers],
    ['llama.feed_forward_length', shape.feedForward],
    ['llama.attention.head_count', shape.heads],
    ['llama.attention.head_count_kv', shape.keyValueHeads],
    ['llama.attention.layer_norm_rms_epsilon', 1e-5],
  ]
}

interface Vocabulary {
  readonly metadata: readonly [string, MetadataValue][]
  readonly size: number
  /** Control tokens and parts of characters: generating one of them yields no text. */
  readonly silentTokens: readonly number[]
}

async function vocabularyOf(donor: string): Promise<Vocabulary> {
  const { tokenizer } = (await readGgufFileInfo(donor, { readTensorInfo: false })).metadata
  const { tokens, merges, token_type: types, eos_token_id: endToken, pre } = tokenizer.ggml
  const template = tokenizer.chat_template
  if (!merges || !types || endToken === undefined || pre === undefined || template === undefined) {
    throw new Error(`${donor} has no byte-pair vocabulary with a chat template.`)
  }
  const metadata: [string, MetadataValue][] = [
    ['tokenizer.ggml.model', 'gpt2'],
    ['tokenizer.ggml.pre', pre],
    ['tokenizer.ggml.tokens', [...tokens]],
    ['tokenizer.ggml.token_type', [...types]],
    ['tokenizer.ggml.merges', [...merges]],
    ['tokenizer.ggml.eos_token_id', endToken],
    ['tokenizer.chat_template', template],
  ]
  const silentTokens = tokens.flatMap((text, token) =>
    types[token]?.valueOf() === controlTokenType || !plainText.test(text) ? [token] : [],
  )
  return { metadata, size: tokens.length, silentTokens }
}

/**
 * Writes a model with random weights, which runs at the speed of a trained model of its shape. At temperature 0 it never
 * ends a reply by itself and every token yields text, so the number of texts is the number of tokens.
 *
 * @param donor a GGUF file whose vocabulary and chat template the model copies
 */
export async function writeRandomModel(path: string, shape: Shape, donor: string): Promise<void> {
  const vocabulary = await vocabularyOf(donor)
  await writeGguf(path, new Map([...shapeMetadata(shape), ...vocabulary.metadata]), [
    quantised('token_embd.weight', shape.width, vocabulary.size, { scale: scales.embedding }),
    quantised('output.weight', shape.width, vocabulary.size, { zeroRows: vocabulary.silentTokens }),
    ones('output_norm.weight', shape.width),
    ...Array.from({ length: shape.layers }, (_, index) => layer(shape, index)).flat(),
  ])
}
