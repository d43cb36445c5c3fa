import path from 'node:path'
import type { Command } from 'commander'
import { checkModel, type ModelCheck } from '../../models/local/check.ts'
import { command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { sizeText, writeJson, writeLines } from '../output/output.ts'

export function checkCommand(context: Context): Command {
  return command(
    'check',
    'Load a model file, and report what it is and how fast it runs',
    'model check models/tiny/tiny.gguf',
  )
    .argument('<file>', 'a GGUF file')
    .action(async (file: string, { json }: CommonOptions) => {
      const found = await checkModel(path.resolve(file), { log: await context.log() })
      if (json) return writeJson(context, toJson(found))
      return writeLines(context, ...report(file, found))
    })
}

const made: Readonly<Record<ModelCheck['purpose'], string>> = {
  text: 'text',
  embeddings: 'embeddings: set kind: embeddings for it',
  ranking: 'neither text nor embeddings: it is a reranker',
  unknown: 'unknown: the file does not say',
}

function report(file: string, found: ModelCheck): string[] {
  const { architecture, parameters, trainedContext, vocabulary, hasChatTemplate, purpose, bytes } = found
  const lines: [string, string][] = [
    ['Architecture', architecture],
    ['Parameters', `${(parameters / 1e6).toFixed(1)} million, in ${sizeText(bytes)}`],
    ['Context', `${trainedContext} tokens at most`],
    ['Vocabulary', `${vocabulary} tokens`],
    ['Chat template', hasChatTemplate ? 'yes' : 'none'],
    ['Makes', made[purpose]],
    ...speedOf(found),
  ]
  const width = Math.max(...lines.map(([title]) => title.length))
  return [verdict(file, found), '', ...lines.map(([title, text]) => `${title.padEnd(width)}  ${text}`)]
}

const isServed = ({ purpose }: ModelCheck): boolean => purpose === 'text' || purpose === 'embeddings'

function verdict(file: string, found: ModelCheck): string {
  if (isServed(found)) return `${file} can be used.`
  if (found.purpose === 'ranking') return `${file} cannot be served: it ranks texts.`
  return `${file} can be loaded but not served: it has no chat template. Use an instruct or chat model. If it is an embedding model, set kind: embeddings for it.`
}

function speedOf({ speed, embedding }: ModelCheck): [string, string][] {
  const measured = speed ?? embedding
  if (measured === null) return []
  const { load, memory, context } = measured
  return [
    ['Loading', `${Math.round(load)} ms`],
    ...(speed ? textSpeed(speed) : []),
    ...(embedding ? embeddingSpeed(embedding) : []),
    ...(memory === null
      ? []
      : [['Memory', `${sizeText(memory)} with a context of ${context} tokens`] as [string, string]]),
  ]
}

const textSpeed = ({ prefill, decode }: NonNullable<ModelCheck['speed']>): [string, string][] => [
  ['Reading a prompt', `${Math.round(prefill)} tokens/s`],
  ['Writing a reply', `${Math.round(decode)} tokens/s, one reply at a time`],
]

const embeddingSpeed = ({ read, vectorLength }: NonNullable<ModelCheck['embedding']>): [string, string][] => [
  ['Reading texts', `${Math.round(read)} tokens/s`],
  ['Vectors', `of ${vectorLength} numbers`],
]

function toJson(found: ModelCheck): object {
  const { architecture, parameters, trainedContext, vocabulary, hasChatTemplate, purpose, bytes, speed, embedding } =
    found
  return {
    ok: isServed(found),
    kind: purpose,
    architecture,
    parameters,
    trained_context: trainedContext,
    vocabulary,
    chat_template: hasChatTemplate,
    bytes,
    speed: speed && {
      load_ms: Math.round(speed.load),
      prompt_tokens_per_second: Math.round(speed.prefill),
      reply_tokens_per_second: Math.round(speed.decode),
      memory_bytes: speed.memory,
      context: speed.context,
    },
    embedding: embedding && {
      load_ms: Math.round(embedding.load),
      tokens_per_second: Math.round(embedding.read),
      vector_length: embedding.vectorLength,
      memory_bytes: embedding.memory,
      context: embedding.context,
    },
  }
}
