import type { Prompt } from './conversation.ts'

/**
 * The tokens of reasoning that only its vendor can read. It is sent back encrypted, in signatures; the vendor
 * decrypts it and charges it as input. `most` is what to hold. Vendors do not publish how they encode it. English text
 * has about four bytes for each token; numbers, code and other scripts have fewer.
 */
export interface SignatureTokens {
  readonly expected: number
  readonly most: number
}

const bytesPerToken = { expected: 4, most: 2 }

export function signatureTokens(prompt: Prompt): SignatureTokens {
  const bytes = signatureBytes(prompt)
  return { expected: Math.ceil(bytes / bytesPerToken.expected), most: Math.ceil(bytes / bytesPerToken.most) }
}

/** The bytes of encrypted reasoning, which are at least those of its text: an upper bound of its tokens. */
export function signatureBytes({ messages }: Prompt): number {
  let bytes = 0
  for (const { parts = [] } of messages) {
    for (const part of parts) if (part.kind === 'reasoning') bytes += bytesIn(part.signature ?? '')
  }
  return bytes
}

/** Vendors write base64 in either alphabet. */
const base64 = /^[\w+/-]*={0,2}$/

const bytesIn = (signature: string): number => Buffer.byteLength(signature, base64.test(signature) ? 'base64' : 'utf8')
