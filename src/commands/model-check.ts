import path from 'node:path'
import type { Command } from 'commander'
import { checkModel, type ModelCheck } from '../models/local/check.ts'
import { command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { sizeText, writeJson, writeLines } from './output.ts'

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

function report(file: string, found: ModelCheck): string[] {
  const { architecture, parameters, trainedContext, vocabulary, hasChatTemplate, bytes, speed } = found
  const lines: [string, string][] = [
    ['Architecture', architecture],
    ['Parameters', `${(parameters / 1e6).toFixed(1)} million, in ${sizeText(bytes)}`],
    ['Context', `${trainedContext} tokens at most`],
    ['Vocabulary', `${vocabulary} tokens`],
    ['Chat template', hasChatTemplate ? 'yes' : 'none'],
  ]
  if (speed !== null) {
    lines.push(
      ['Loading', `${Math.round(speed.load)} ms`],
      ['Reading a prompt', `${Math.round(speed.prefill)} tokens/s`],
      ['Writing a reply', `${Math.round(speed.decode)} tokens/s, one reply at a time`],
    )
    if (speed.memory !== null)
      lines.push(['Memory', `${sizeText(speed.memory)} with a context of ${speed.context} tokens`])
  }
  const width = Math.max(...lines.map(([title]) => title.length))
  return [
    hasChatTemplate
      ? `${file} can be used.`
      : `${file} can be loaded but not served: it has no chat template. Use an instruct or chat model.`,
    '',
    ...lines.map(([title, text]) => `${title.padEnd(width)}  ${text}`),
  ]
}

function toJson({
  architecture,
  parameters,
  trainedContext,
  vocabulary,
  hasChatTemplate,
  bytes,
  speed,
}: ModelCheck): object {
  return {
    ok: hasChatTemplate,
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
  }
}
