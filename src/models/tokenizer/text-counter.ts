import type { TextCounter } from './protocol.ts'
import { loadTokenizerFile } from './tokenizer-file.ts'

/** The encodings of OpenAI's models. Each takes some 70 MB of memory, so only those in use are loaded. */
const encodings = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
  p50k_base: () => import('gpt-tokenizer/encoding/p50k_base'),
  r50k_base: () => import('gpt-tokenizer/encoding/r50k_base'),
} as const

/** OpenAI's count: 3 tokens around each message, 1 for its role, and 3 that open the reply. */
const chat = { message: 4, prompt: 3 }

/** Loads an encoding by name, or a `tokenizer.json` by path. Throws when the file cannot be used. */
export async function loadTextCounter(source: string): Promise<TextCounter> {
  if (!isEncoding(source)) return loadTokenizerFile(source)
  const { countTokens } = await encodings[source]()
  // Text that looks like a control token is plain text.
  const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }
  return {
    overhead: (messages) => messages.length * chat.message + chat.prompt,
    count: (text) => countTokens(text, plain),
  }
}

function isEncoding(source: string): source is keyof typeof encodings {
  return Object.hasOwn(encodings, source)
}
