import {
  JinjaTemplateChatWrapper,
  SpecialToken,
  type ChatHistoryItem,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import {
  textOfMessage,
  type Message,
  type Part,
  type Prompt,
  type ReplyFormat,
  type TextMessage,
  type Tool,
} from '../conversation.ts'
import { forcedTools } from './forced-call.ts'
import { append, createTextAppender } from './text-tokens.ts'

/** Converts prompts to the tokens of one model. */
export interface Renderer {
  /**
   * The tokens of the prompt in the model's chat template, up to where the reply begins. The same prompt always gives the
   * same tokens. Only the template produces control tokens; text that looks like one stays text. Once `isCancelled`
   * returns true, the rest of a long text is skipped.
   */
  render(prompt: Prompt, isCancelled?: () => boolean): Promise<Token[]>
  /** Whether this token ends the reply. */
  readonly isEnd: (token: Token) => boolean
}

/** Uses the chat template of the file. Throws an Error if the template is missing or does not work. */
export function createRenderer(model: LlamaModel): Renderer {
  const template = model.fileInfo.metadata.tokenizer?.chat_template
  if (!template) throw new Error('The file has no chat template. Use a GGUF of a model that was tuned for chat.')
  const wrapper = new JinjaTemplateChatWrapper({ template, tokenizer: model.tokenizer })
  const { bos, shouldPrependBosToken } = model.tokens
  const closing = closingToken(wrapper, model)
  const appendText = createTextAppender(model)
  return {
    async render(prompt, isCancelled = () => false) {
      const { contextText } = wrapper.generateContextState({ chatHistory: history(plainMessages(prompt)) })
      const tokens: Token[] = []
      for (const part of contextText.values) {
        if (typeof part === 'string') await appendText(tokens, part, isCancelled)
        else if (part instanceof SpecialToken) append(tokens, part.tokenize(model.tokenizer))
        else append(tokens, part.tokenize(model.tokenizer, tokens.length > 0))
      }
      if (shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos)
      return tokens
    },
    isEnd: (token) => token === closing || model.isEogToken(token),
  }
}

/** If the last message is the assistant's, the reply continues it. Otherwise an empty message makes the template open the reply. */
function history(messages: readonly TextMessage[]): ChatHistoryItem[] {
  const items = messages.map(({ role, text }): ChatHistoryItem =>
    role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text },
  )
  return messages.at(-1)?.role === 'assistant' ? items : [...items, { type: 'model', response: [''] }]
}

/** The control token that the template puts after a reply, if any. Not every file marks it as an end token. */
function closingToken(wrapper: JinjaTemplateChatWrapper, model: LlamaModel): Token | undefined {
  const { stopGenerationTriggers } = wrapper.generateContextState({
    chatHistory: history([{ role: 'user', text: 'Hello' }]),
  })
  const [first] = stopGenerationTriggers[1]?.tokenize(model.tokenizer) ?? []
  return first !== undefined && model.getTokenAttributes(first).control ? first : undefined
}

/**
 * A prompt as messages of text only, which every chat template supports. What the reply must be is asked for at the end of
 * the instructions. The grammar enforces it anyway, but only here does the model learn what the fields mean.
 */
function plainMessages(prompt: Prompt): readonly TextMessage[] {
  const messages = textMessages(prompt.messages)
  const request = requestOf(prompt)
  if (request === undefined) return messages
  const [first] = messages
  const [instructions, rest] = first?.role === 'system' ? [[first.text], messages.slice(1)] : [[], messages]
  return [{ role: 'system', text: [...instructions, request].join('\n\n') }, ...rest]
}

/** Calls are numbered, so that the model sees which results are whose. */
function textMessages(messages: readonly Message[]): readonly TextMessage[] {
  const numbers = new Map<string, number>()

  function textOf(part: Part): readonly string[] {
    switch (part.kind) {
      case 'text':
        return [part.text]
      case 'call':
        numbers.set(part.id, numbers.size + 1)
        return [`Call ${numbers.get(part.id)}: ${part.tool} ${part.input}`]
      case 'result':
        return [
          `${part.isError ? 'Error' : 'Result'} of call ${numbers.get(part.callId)}: ${textOfResult(part.content)}`,
        ]
      case 'reasoning':
      case 'file':
        return []
    }
  }

  return messages.map(({ role, text, parts }) => ({ role, text: parts ? parts.flatMap(textOf).join('\n') : text }))
}

const textOfResult = (parts: readonly Part[]): string => textOfMessage({ role: 'user', parts })

/** What to ask of the model about the form of its reply. */
function requestOf(prompt: Prompt): string | undefined {
  const tools = forcedTools(prompt)
  const [tool] = tools
  if (tools.length > 1) return [ofSeveral, ...tools.map(described)].join('\n\n')
  if (tool) return callRequest(tool)
  return prompt.format && formatRequest(prompt.format)
}

const ofSeveral =
  'Call one of the following tools. Reply with its name, a space, and its arguments as JSON that follows its JSON schema.'

const described = ({ name, description, parameters }: Tool): string =>
  [name, ...about(description), JSON.stringify(parameters)].join('\n')

const callRequest = ({ name, description, parameters }: Tool): string =>
  [`Call the tool ${name}: reply with its arguments only.`, ...about(description), schemaRequest(parameters)].join('\n')

function formatRequest(format: ReplyFormat): string {
  if (format.kind === 'json') return 'Reply with a JSON object.'
  return [...about(format.description), schemaRequest(format.schema)].join('\n')
}

const about = (description: string | undefined) => (description === undefined ? [] : [description])
const schemaRequest = (schema: object) => `Reply with JSON that follows this JSON schema: ${JSON.stringify(schema)}`
