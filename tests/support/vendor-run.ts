import assert from 'node:assert/strict'
import { pino } from 'pino'
import type { Model, StreamPart, Prompt, RunLimits } from '../../src/models/model.ts'
import { createOpenAiModel, type OpenAiModelOptions } from '../../src/models/upstream/openai.ts'
import { Problem } from '../../src/platform/problems.ts'
import type { Gate } from './gate.ts'

/** 20 bytes, so 5 tokens where nobody counts. */
export const prompt: Prompt = {
  messages: [
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: 'Grüß Gott' },
  ],
}

/** Opens models and closes them again; keeps what they log. */
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

/** What a model of either engine needs besides. */
export const modelOptions = {
  upstreamModel: 'm',
  context: 32_768,
  maxOutputTokens: 4096,
  timeout: { connect: 30_000, first_token: 30_000, total: 60_000 },
}

/** How a model is run: whole unless told. */
export type Manner = Partial<RunLimits> & { readonly stream?: boolean }

/** A run to its end; a whole one is one text, where it has any, and its end. */
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

/** The pieces of a stream whose next token is sent when the one before has been read. */
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

/** The texts of a run, and its end. */
export function parts(all: readonly StreamPart[]) {
  const end = all.at(-1)
  assert.equal(end?.kind, 'end')
  const told = all.flatMap((piece) => (piece.kind === 'texts' ? [piece.texts] : []))
  assert.equal(told.length, all.length - 1, 'one end, at the end')
  const texts = told.flat()
  assert.ok(told.every(({ length }) => length > 0) && texts.every((text) => text !== ''), 'nothing is empty')
  return { texts, stopReason: end.stopReason, usage: end.usage }
}
