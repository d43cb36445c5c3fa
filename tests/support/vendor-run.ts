import assert from 'node:assert/strict'
import { pino } from 'pino'
import type { Delta } from '../../src/models/conversation.ts'
import type { Model, StreamPart, Prompt, RunLimits } from '../../src/models/model.ts'
import { createOpenAiModel, type OpenAiModelOptions } from '../../src/models/upstream/chat/openai.ts'
import { Problem } from '../../src/platform/problems.ts'
import type { Gate } from './gate.ts'

/** 20 bytes, so an estimate of 5 tokens. */
export const prompt: Prompt = {
  messages: [
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: 'Grüß Gott' },
  ],
}

/** Opens and closes models, and keeps their log lines. */
export function createModels() {
  const open: Model[] = []
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const keep = <Made extends Model>(model: Made): Made => {
    open.push(model)
    return model
  }
  return {
    log,
    lines,
    keep,
    openAi: (options: Pick<OpenAiModelOptions, 'endpoints'> & Partial<OpenAiModelOptions>): Model =>
      keep(createOpenAiModel({ ...modelOptions, id: 'fast', log, ...options })),
    close: () => Promise.all(open.splice(0).map((model) => model.close())),
  }
}

/** Options that both engines need. */
export const modelOptions = {
  upstreamModel: 'm',
  context: 32_768,
  maxOutputTokens: 4096,
  timeout: { connect: 30_000, first_token: 30_000, total: 60_000 },
}

/** How a model is run. Default: not as a stream. */
export type Manner = Partial<RunLimits> & { readonly stream?: boolean }

/** The parts of a completed run. A whole reply has at most one text. */
export async function pieces(
  model: Model,
  { stream = false, ...limits }: Manner = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<StreamPart[]> {
  const all = { maxOutputTokens: 100, ...limits }
  if (stream) return Array.fromAsync(model.stream(prompt, all, signal))
  const { text, ...end } = await model.run(prompt, all, signal)
  return [...(text === '' ? [] : [{ kind: 'texts', texts: [text] } as const]), { kind: 'end', ...end }]
}

/** The parts of a stream. Each token is sent after the previous one was read. */
export async function* stepwise(
  run: AsyncIterable<StreamPart>,
  gate: Gate,
): AsyncGenerator<StreamPart, void, undefined> {
  let read = 0
  gate.open(1)
  for await (const piece of run) {
    yield piece
    read += piece.kind === 'texts' ? piece.texts.length : 0
    gate.open(read + 1)
  }
}

/** The Problem that a run throws. */
export async function failure(model: Model, manner: Manner = {}): Promise<Problem> {
  const error: unknown = await pieces(model, manner).then(
    (all) => assert.fail(`the run ended with ${JSON.stringify(all)}`),
    (reason: unknown) => reason,
  )
  assert(error instanceof Problem, String(error))
  return error
}

/** The texts of a run and its end. */
export function parts(all: readonly StreamPart[]) {
  const end = all.at(-1)
  assert.equal(end?.kind, 'end')
  const told = all.flatMap((piece) => (piece.kind === 'texts' ? [piece.texts] : []))
  assert.equal(told.length, all.length - 1, 'one end part, and it is the last')
  const texts = told.flat()
  assert.ok(told.every(({ length }) => length > 0) && texts.every((text) => text !== ''), 'no text is empty')
  return { texts, stopReason: end.stopReason, usage: end.usage }
}

/** The pieces of a stream one by one, and its end. */
export function readStream(all: readonly StreamPart[]) {
  const brought = all.flatMap((part): readonly (string | Delta)[] => {
    if (part.kind === 'texts') return part.texts
    return part.kind === 'deltas' ? part.deltas : []
  })
  const end = all.at(-1)
  assert.ok(end?.kind === 'end')
  return { pieces: brought, stopReason: end.stopReason, usage: end.usage }
}
