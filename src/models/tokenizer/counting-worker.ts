import { setImmediate } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { slicesOf } from '../text-slices.ts'
import { isToCounter, type CountOrder, type FromCounter, type TextCounter } from './protocol.ts'
import { loadTokenizerFile } from './tokenizer-file.ts'

/**
 * The counting thread. It counts long texts slice by slice and lets other requests go on after each slice. Slices are
 * short because the time of a tokenizer grows with the square of an unbroken run of characters.
 */
const sliceLength = 512

const counters = new Map<string, Promise<TextCounter>>()
const cancelled = new Set<number>()

function send(message: FromCounter): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}

function counterOf(source: string): Promise<TextCounter> {
  const counter = counters.get(source) ?? loadTextCounter(source)
  counters.set(source, counter)
  // A file may be repaired meanwhile.
  counter.catch(() => counters.delete(source))
  return counter
}

/** After `budget` ms the rest counts one token per byte, which no tokenizer exceeds. */
async function count(counter: TextCounter, { id, messages, budget }: CountOrder): Promise<number> {
  const end = performance.now() + budget
  let tokens = counter.overhead(messages)
  for (const { text } of messages) {
    for (const slice of slicesOf(text, sliceLength)) {
      if (cancelled.has(id)) return tokens
      const isLate = performance.now() > end
      tokens += isLate ? Buffer.byteLength(slice) : counter.count(slice)
      if (!isLate && text.length > sliceLength) await setImmediate()
    }
  }
  return tokens
}

async function answer(order: CountOrder): Promise<void> {
  const { id, source } = order
  try {
    const counter = await counterOf(source)
    // The error of a tokenizer may quote the text, so only its name is passed on.
    const tokens = await count(counter, order).catch((error: unknown) => {
      throw new Error(error instanceof Error ? error.name : 'unknown')
    })
    send({ id, tokens })
  } catch (error) {
    send({ id, fault: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown' })
  }
}

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
async function loadTextCounter(source: string): Promise<TextCounter> {
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

parentPort?.on('message', (message: unknown) => {
  if (!isToCounter(message)) return
  if (message.kind === 'cancel') return void cancelled.add(message.id)
  void answer(message).finally(() => cancelled.delete(message.id))
})
