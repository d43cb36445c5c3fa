import { open } from 'node:fs/promises'

/** A value of GGUF metadata. A whole number is written as uint32 and any other number as float32. */
export type MetadataValue = string | number | boolean | readonly string[] | readonly number[]

/** A tensor to write. `bytes` returns its data, in the block format of `type`. */
export interface TensorToWrite {
  readonly name: string
  /** The dimension that varies fastest comes first. */
  readonly dimensions: readonly number[]
  /** The number of the type in ggml: 0 is F32, 1 is F16, 2 is Q4_0. */
  readonly type: number
  readonly byteLength: number
  readonly bytes: () => Uint8Array
}

const version = 3
const alignment = 32
const valueTypes = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 }

const padded = (length: number): number => Math.ceil(length / alignment) * alignment

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([uint64(bytes.length), bytes])
}

function scalar(value: number): Buffer {
  if (Number.isInteger(value)) return Buffer.concat([uint32(valueTypes.uint32), uint32(value)])
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([uint32(valueTypes.float32), bytes])
}

function list(values: readonly string[] | readonly number[]): Buffer {
  const isText = typeof values[0] === 'string'
  const header = [
    uint32(valueTypes.array),
    uint32(isText ? valueTypes.string : valueTypes.int32),
    uint64(values.length),
  ]
  return Buffer.concat([...header, ...values.map((value) => (typeof value === 'string' ? text(value) : uint32(value)))])
}

function metadataValue(value: MetadataValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([uint32(valueTypes.string), text(value)])
  if (typeof value === 'number') return scalar(value)
  if (typeof value === 'boolean') return Buffer.concat([uint32(valueTypes.bool), Buffer.of(value ? 1 : 0)])
  return list(value)
}

function tensorHeaders(tensors: readonly TensorToWrite[]): Buffer[] {
  let offset = 0
  return tensors.map((tensor) => {
    const header = Buffer.concat([
      text(tensor.name),
      uint32(tensor.dimensions.length),
      ...tensor.dimensions.map(uint64),
      uint32(tensor.type),
      uint64(offset),
    ])
    offset += padded(tensor.byteLength)
    return header
  })
}

/** Writes a GGUF file, version 3, with one tensor in memory at a time. Throws the file system's errors. */
export async function writeGguf(
  path: string,
  metadata: ReadonlyMap<string, MetadataValue>,
  tensors: readonly TensorToWrite[],
): Promise<void> {
  const entries = [...metadata].map(([key, value]) => Buffer.concat([text(key), metadataValue(value)]))
  const start = [Buffer.from('GGUF'), uint32(version), uint64(tensors.length), uint64(metadata.size)]
  const header = Buffer.concat([...start, ...entries, ...tensorHeaders(tensors)])
  await using file = await open(path, 'w')
  await file.writeFile(Buffer.concat([header, Buffer.alloc(padded(header.length) - header.length)]))
  for (const tensor of tensors) {
    await file.writeFile(tensor.bytes())
    await file.writeFile(Buffer.alloc(padded(tensor.byteLength) - tensor.byteLength))
  }
}
