import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createLocalEngine, type LocalEngine, type LocalEngineNeeds } from '../../src/models/local/engine.ts'
import type { StreamEnd, Prompt, RunLimits } from '../../src/models/model.ts'
import { createTestLog } from './log.ts'

/** The model that the repository ships. */
export const tinyFile = path.join(import.meta.dirname, '../../models/tiny/tiny.gguf')

/** A local engine with the shipped model, not yet ready. The test closes it. */
export function createTestEngine(needs: Partial<LocalEngineNeeds> = {}): LocalEngine & { logged: () => string } {
  const { log, text } = createTestLog()
  const engine = createLocalEngine({
    id: 'tiny',
    file: tinyFile,
    context: 1024,
    maxOutputTokens: 512,
    parallel: 8,
    grace: 5000,
    log,
    ...needs,
  })
  return { ...engine, logged: text }
}

/** Writes a copy of the shipped model without an end-of-turn token, so that its replies never end. */
export async function writeEndlessModel(file: string): Promise<void> {
  const bytes = await readFile(tinyFile)
  bytes.write('<|im_enx|>', bytes.indexOf('<|im_end|>'))
  for (const setting of ['tokenizer.ggml.eos_token_id', 'tokenizer.ggml.eot_token_id']) {
    bytes.writeUInt32LE(0, bytes.indexOf(setting) + setting.length + 4)
  }
  await writeFile(file, bytes)
}

/** A prompt from the input, or from instructions and input. */
export function promptOf(...texts: [input: string] | [instructions: string, input: string]): Prompt {
  const [first, second] = texts
  if (second === undefined) return { messages: [{ role: 'user', text: first }] }
  return {
    messages: [
      { role: 'system', text: first },
      { role: 'user', text: second },
    ],
  }
}

/** A prompt to which the shipped model replies with more than 64 tokens. */
export const letterPrompt = promptOf(
  'Draft a letter to the client from these notes.',
  'Meeting on 12 March 2026 with Anna Berg of Berg & Sons. We agreed a fixed fee of $4,800 for the annual accounts.',
)

/** A completed run. */
export interface Ran {
  readonly text: string
  readonly pieces: readonly string[]
  readonly end: StreamEnd
}

/** Runs to the end, by default as a stream. `onText` is called with each piece. Throws what the run throws. */
export async function readRun(
  engine: Pick<LocalEngine, 'run' | 'stream'>,
  prompt: Prompt,
  { stream = true, ...limits }: RunLimits & { stream?: boolean },
  {
    signal = new AbortController().signal,
    onText = () => {},
  }: { signal?: AbortSignal; onText?: (text: string) => void } = {},
): Promise<Ran> {
  if (!stream) {
    const { text, ...end } = await engine.run(prompt, limits, signal)
    return { text, pieces: [text], end: { kind: 'end', ...end } }
  }
  const pieces: string[] = []
  for await (const piece of engine.stream(prompt, limits, signal)) {
    if (piece.kind === 'end') return { text: pieces.join(''), pieces, end: piece }
    const texts = piece.kind === 'texts' ? piece.texts : []
    pieces.push(...texts)
    for (const text of texts) onText(text)
  }
  throw new Error('The run ended without saying how.')
}
