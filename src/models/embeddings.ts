import { Problem } from '../platform/problems.ts'
import type { Capability } from './capabilities.ts'
import type { Model } from './model.ts'

/** What an embedding model has in place of text. */
export const noText: Pick<Model, 'maxOutputTokens' | 'capabilities' | 'run' | 'stream'> = {
  maxOutputTokens: 0,
  capabilities: new Set<Capability>(),
  run: () => Promise.reject(refusal()),
  // oxlint-disable-next-line require-yield
  async *stream() {
    throw refusal()
  },
}

const refusal = (): Problem =>
  new Problem('invalid_field', 'This model makes embeddings, not text.', { field: 'model' })

export const floatBytes = 4

/** The base64 of the numbers as 32-bit floats, little endian as all platforms that run Node are. */
export function base64OfFloats(numbers: readonly number[] | Float32Array): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString('base64')
}
