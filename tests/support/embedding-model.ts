import { writeGguf, type MetadataValue, type TensorToWrite } from '../../bench/gguf-writer.ts'

/** A BERT of random weights with a WordPiece vocabulary of letters, digits and signs. The same each time. */
export interface EmbeddingModelShape {
  /** Numbers of a vector. */
  readonly width: number
  readonly layers: number
  readonly feedForward: number
  /** The tokens of its longest text. */
  readonly context: number
}

/** Embeds a text of its context in some milliseconds. */
export const smallEmbedder: EmbeddingModelShape = { width: 64, layers: 2, feedForward: 128, context: 128 }

const heads = 2
const control = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
const characters = 'abcdefghijklmnopqrstuvwxyz0123456789.,[]<>|/'.split('')
/** The start of a word is marked by `▁`. Every character can also continue one. */
const tokens = [...control, ...characters.map((each) => `▁${each}`), ...characters, '▁the', '▁client', 'ing']
const controlType = 3
const normalType = 1
const meanPooling = 1

function metadataOf(shape: EmbeddingModelShape): [string, MetadataValue][] {
  return [
    ['general.architecture', 'bert'],
    ['bert.context_length', shape.context],
    ['bert.embedding_length', shape.width],
    ['bert.block_count', shape.layers],
    ['bert.feed_forward_length', shape.feedForward],
    ['bert.attention.head_count', heads],
    ['bert.attention.layer_norm_epsilon', 1e-6],
    ['bert.attention.causal', false],
    ['bert.pooling_type', meanPooling],
    ['tokenizer.ggml.model', 'bert'],
    ['tokenizer.ggml.tokens', tokens],
    ['tokenizer.ggml.token_type', tokens.map((_, token) => (token < control.length ? controlType : normalType))],
    ['tokenizer.ggml.token_type_count', 1],
    ['tokenizer.ggml.padding_token_id', 0],
    ['tokenizer.ggml.unknown_token_id', 1],
    ['tokenizer.ggml.bos_token_id', 2],
    ['tokenizer.ggml.seperator_token_id', 3],
    ['tokenizer.ggml.mask_token_id', 4],
  ]
}

/** Numbers between -1 and 1, the same for every model (mulberry32). */
function createNoise(): () => number {
  let state = 1
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1
  }
}

function tensor(name: string, dimensions: readonly number[], value: () => number): TensorToWrite {
  const length = dimensions.reduce((product, each) => product * each, 1)
  const bytes = () => new Uint8Array(Float32Array.from({ length }, value).buffer)
  return { name, dimensions, type: 0, byteLength: length * 4, bytes }
}

function tensorsOf({ width, layers, feedForward, context }: EmbeddingModelShape): TensorToWrite[] {
  const noise = createNoise()
  const random = (name: string, columns: number, rows: number) =>
    tensor(`${name}.weight`, [columns, rows], () => noise() / Math.sqrt(columns))
  const linear = (name: string, columns: number, rows: number) => [
    random(name, columns, rows),
    tensor(`${name}.bias`, [rows], noise),
  ]
  const norm = (name: string) => [tensor(`${name}.weight`, [width], () => 1), tensor(`${name}.bias`, [width], () => 0)]
  const layer = (index: number) => [
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].flatMap((name) => linear(`blk.${index}.${name}`, width, width)),
    ...norm(`blk.${index}.attn_output_norm`),
    ...linear(`blk.${index}.ffn_up`, width, feedForward),
    ...linear(`blk.${index}.ffn_down`, feedForward, width),
    ...norm(`blk.${index}.layer_output_norm`),
  ]
  return [
    random('token_embd', width, tokens.length),
    random('token_types', width, 1),
    random('position_embd', width, context),
    ...norm('token_embd_norm'),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
  ]
}

/** Writes an embedding model that llama.cpp loads in a moment. `changes` replaces metadata. */
export async function writeEmbeddingModel(
  file: string,
  shape: EmbeddingModelShape = smallEmbedder,
  changes: readonly [string, MetadataValue][] = [],
): Promise<void> {
  await writeGguf(file, new Map([...metadataOf(shape), ...changes]), tensorsOf(shape))
}
