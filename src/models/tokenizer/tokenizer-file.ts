import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Template } from '@huggingface/jinja'
import { Tokenizer } from '@huggingface/tokenizers'
import type { TextMessage } from '../conversation.ts'
import type { TextCounter } from './protocol.ts'

/** Tokens that a chat template adds to a message and to the prompt, where the template is not known. */
const template = { message: 8, prompt: 8 }

/**
 * Loads a `tokenizer.json`. The chat template comes from `tokenizer_config.json` or `chat_template.jinja` in the same
 * folder, if there is one. Throws for a file that is missing or is not a tokenizer.
 */
export async function loadTokenizerFile(file: string): Promise<TextCounter> {
  const folder = path.dirname(file)
  const config = await readSettings(path.join(folder, 'tokenizer_config.json'))
  const tokenizer = new Tokenizer(objectOf(JSON.parse(await readFile(file, 'utf8'))), config)
  const count = (text: string): number => tokenizer.encode(text, { add_special_tokens: false }).ids.length
  count('a')
  const source = templateIn(config) ?? (await readOptional(path.join(folder, 'chat_template.jinja')))
  const render = source === undefined ? undefined : renderer(source, config)
  return {
    count,
    overhead(messages) {
      const rendered = render?.(messages)
      return rendered === undefined ? messages.length * template.message + template.prompt : count(rendered)
    },
  }
}

/** Renders messages without their texts. Undefined where the template refuses such messages. */
function renderer(source: string, config: object) {
  const jinja = new Template(source)
  return (messages: readonly TextMessage[]): string | undefined => {
    const empty = messages.map(({ role }) => ({ role, content: '' }))
    try {
      return jinja.render({ ...config, ...tokensIn(config), messages: empty, add_generation_prompt: true })
    } catch {
      return undefined
    }
  }
}

/** Special tokens such as `bos_token`, which a file may describe as objects. */
function tokensIn(config: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => {
      const content: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'content') : undefined
      return typeof content === 'string' ? [[name, content]] : []
    }),
  )
}

/** A file may have several templates by name. */
function templateIn(config: object): string | undefined {
  const found: unknown = Reflect.get(config, 'chat_template')
  const chosen: unknown = Array.isArray(found)
    ? found.map(objectOf).find((each) => Reflect.get(each, 'name') === 'default')
    : { template: found }
  const text: unknown = Reflect.get(objectOf(chosen), 'template')
  return typeof text === 'string' ? text : undefined
}

async function readSettings(file: string): Promise<object> {
  const text = await readOptional(file)
  return text === undefined ? {} : objectOf(JSON.parse(text))
}

async function readOptional(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
