import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import type { ModelKind } from '../../platform/config/config.ts'
import { mismatch, purposeOf, type FilePurpose } from './file-purpose.ts'

/** The model's facts from the header of a GGUF file, or why the file cannot be used and what to do. */
export type ModelFile =
  | {
      readonly ok: true
      readonly architecture: string
      readonly parameters: number
      /** The context length of its training, in tokens. */
      readonly trainedContext: number
      readonly vocabulary: number
      readonly hasChatTemplate: boolean
      readonly purpose: FilePurpose
      readonly bytes: number
    }
  | { readonly ok: false; readonly reason: string }

/**
 * Reads the header of a GGUF file, in a few milliseconds and without loading the model. Refuses files that llama.cpp would
 * refuse or abort on: missing or unreadable files, other formats, truncated headers or data, and missing settings; and, with
 * `kind`, files that make something else. Does not check the weights. Never throws.
 */
export async function inspectModelFile(path: string, kind?: ModelKind): Promise<ModelFile> {
  try {
    // O_NONBLOCK keeps the opening of a pipe from waiting for its writer.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = await file.stat()
    if (!found.isFile()) return refuse(path, 'is not a file')
    const header = await readHeader(file, found.size)
    const model = typeof header === 'string' ? refuse(path, header) : judge(path, header, found.size)
    const fault = model.ok && kind && mismatch(model.purpose, kind)
    return fault ? refuse(path, fault) : model
  } catch (error) {
    return { ok: false, reason: unreadable(path, error) }
  }
}

const refuse = (path: string, what: string): ModelFile => ({ ok: false, reason: `The model file ${path} ${what}.` })

function unreadable(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `There is no model file at ${path}. Put it there, or correct the path.`
  if (code === 'EACCES' || code === 'EPERM')
    return `The model file ${path} is not readable. Give this user read permission.`
  return `The model file ${path} cannot be read (${String(code ?? error)}).`
}

interface Tensor {
  readonly name: string
  readonly elements: number
  readonly offset: number
}

interface Header {
  /** Single values; for an array, its length. */
  readonly settings: ReadonlyMap<string, string | number>
  readonly tensors: readonly Tensor[]
  /** Where the weights begin. */
  readonly dataStart: number
}

const firstRead = 1024 * 1024
const readGrowth = 8
const mostHeader = 512 * 1024 * 1024

const cutOff = 'is cut off. Copy it again'
const damaged = 'is damaged. Copy it again'
const notGguf = 'is not a GGUF file'

/** Reads the header, however long it is. Resolves with the reason if it is not valid. */
async function readHeader(file: FileHandle, size: number): Promise<Header | string> {
  for (let length = firstRead; ; length *= readGrowth) {
    const bytes = Buffer.alloc(Math.min(length, size))
    await file.read(bytes, 0, bytes.length, 0)
    try {
      return parse(bytes)
    } catch (error) {
      if (!(error instanceof RangeError)) return error instanceof Error ? error.message : notGguf
      if (bytes.length === size) return cutOff
      if (length >= mostHeader) return damaged
    }
  }
}

const magic = 'GGUF'
const versions: readonly number[] = [2, 3]
const mostEntries = 1_000_000
/** The operator sees the name, so it must not contain terminal control characters. */
const architectureName = /^[\w.-]*$/
const defaultAlignment = 32
const arrayType = 9
const textType = 8
/** Sizes in bytes of the single-value types, by type number. */
const sizes: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 }

/** Throws RangeError if `bytes` end too early, and Error with the reason for any other fault. */
function parse(bytes: Buffer): Header {
  if (bytes.toString('latin1', 0, 4) !== magic) throw new Error(notGguf)
  const read = createReader(bytes, 4)
  const version = read.uint32()
  if (!versions.includes(version)) throw new Error(`is a GGUF file of version ${version}; only 2 and 3 are known`)
  const tensorCount = read.uint64()
  const entryCount = read.uint64()
  if (tensorCount > mostEntries || entryCount > mostEntries) throw new Error(damaged)
  const settings = new Map(Array.from({ length: entryCount }, () => [read.text(), read.value(read.uint32())] as const))
  const tensors = Array.from({ length: tensorCount }, () => read.tensor())
  const alignment = Number(settings.get('general.alignment') ?? defaultAlignment)
  return { settings, tensors, dataStart: Math.ceil(read.position() / alignment) * alignment }
}

/** Every method throws a RangeError at the end of `bytes`. */
function createReader(bytes: Buffer, start: number) {
  let at = start
  function skip(length: number): number {
    at += length
    if (at > bytes.length) throw new RangeError('the header goes on')
    return at - length
  }
  const uint32 = (): number => bytes.readUInt32LE(skip(4))
  const uint64 = (): number => Number(bytes.readBigUInt64LE(skip(8)))
  function text(): string {
    const length = uint64()
    const from = skip(length)
    return bytes.toString('utf8', from, from + length)
  }
  function array(): number {
    const type = uint32()
    const length = uint64()
    if (type === textType) for (let index = 0; index < length; index += 1) skip(uint64())
    else skip(sizeOf(type) * length)
    return length
  }
  function value(type: number): string | number {
    if (type === textType) return text()
    if (type === arrayType) return array()
    const size = sizeOf(type)
    const from = skip(size)
    return bytes.readUIntLE(from, Math.min(size, 6))
  }
  function tensor(): Tensor {
    const name = text()
    const dimensions = Array.from({ length: uint32() }, uint64)
    skip(4)
    return { name, elements: dimensions.reduce((product, each) => product * each, 1), offset: uint64() }
  }
  return { uint32, uint64, text, value, tensor, position: () => at }
}

function sizeOf(type: number): number {
  const size = sizes[type]
  if (size === undefined) throw new Error(damaged)
  return size
}

function judge(path: string, { settings, tensors, dataStart }: Header, size: number): ModelFile {
  const architecture = String(settings.get('general.architecture') ?? '')
  if (!architectureName.test(architecture)) return refuse(path, damaged)
  const missing = needed(tensors)
    .map((name) => (name.startsWith('general.') ? name : `${architecture}.${name}`))
    .find((name) => !settings.has(name))
  if (missing !== undefined) return refuse(path, `lacks the setting ${missing}. Get another copy of the model`)
  const last = Math.max(0, ...tensors.filter(({ elements }) => elements > 0).map(({ offset }) => offset + 1))
  if (dataStart + last > size) return refuse(path, cutOff)
  const hasChatTemplate = settings.has('tokenizer.chat_template')
  const pooling = settings.get(`${architecture}.pooling_type`)
  return {
    ok: true,
    architecture,
    parameters: tensors.reduce((sum, { elements }) => sum + elements, 0),
    trainedContext: Number(settings.get(`${architecture}.context_length`)),
    vocabulary: Number(settings.get('tokenizer.ggml.tokens') ?? 0),
    hasChatTemplate,
    purpose: purposeOf({ architecture, pooling: pooling === undefined ? undefined : Number(pooling), hasChatTemplate }),
    bytes: size,
  }
}

/** Settings without which llama.cpp aborts instead of reporting an error, given the file's tensors. */
function needed(tensors: readonly Tensor[]): string[] {
  const has = (pattern: RegExp): boolean => tensors.some(({ name }) => pattern.test(name))
  return [
    'general.architecture',
    'context_length',
    'embedding_length',
    'block_count',
    ...(has(/^blk\.\d+\.attn_q/) ? ['attention.head_count'] : []),
    ...(has(/^blk\.\d+\.ffn_(?:up|gate|down)\.weight$/) ? ['feed_forward_length'] : []),
  ]
}
