import { setImmediate } from 'node:timers/promises'
import {
  JinjaTemplateChatWrapper,
  SpecialToken,
  type ChatHistoryItem,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import { textOfMessage, type Message, type Prompt, type ReplyFormat } from '../conversation.ts'
import { slicesOf } from '../text-slices.ts'
import { createLendingPool } from './lending-pool.ts'

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

/**
 * The most characters per call of the tokenizer. Some tokenizers of llama.cpp recurse once per character of an unbroken run
 * and crash the process at about 20 000 characters. The call also blocks everything else.
 */
const sliceLength = 4096

/** Uses the chat template of the file. Throws an Error if the template is missing or does not work. */
export function createRenderer(model: LlamaModel): Renderer {
  const template = model.fileInfo.metadata.tokenizer?.chat_template
  if (!template) throw new Error('The file has no chat template. Use a GGUF of a model that was tuned for chat.')
  const wrapper = new JinjaTemplateChatWrapper({ template, tokenizer: model.tokenizer })
  const { bos, shouldPrependBosToken } = model.tokens
  const closing = closingToken(wrapper, model)
  const appendText = createTextAppender(model)
  return {
    async render({ messages, format }, isCancelled = () => false) {
      const asked = format === undefined ? messages : withFormat(messages, format)
      const { contextText } = wrapper.generateContextState({ chatHistory: history(asked) })
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

/**
 * Asks for the format at the end of the instructions. The grammar enforces it anyway, but only here does the model learn what
 * the fields mean.
 */
function withFormat(messages: readonly Message[], format: ReplyFormat): readonly Message[] {
  const [first] = messages
  const [instructions, rest] = first?.role === 'system' ? [[textOfMessage(first)], messages.slice(1)] : [[], messages]
  return [{ role: 'system', text: [...instructions, request(format)].join('\n\n') }, ...rest]
}

function request(format: ReplyFormat): string {
  if (format.kind === 'json') return 'Reply with a JSON object.'
  const { schema, description } = format
  const about = description === undefined ? [] : [description]
  return [...about, `Reply with JSON that follows this JSON schema: ${JSON.stringify(schema)}`].join('\n')
}

/** If the last message is the assistant's, the reply continues it. Otherwise an empty message makes the template open the reply. */
function history(messages: readonly Message[]): ChatHistoryItem[] {
  const items = messages.map((message): ChatHistoryItem => {
    const { role } = message
    const text = textOfMessage(message)
    return role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text }
  })
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
 * Long texts take turns slice by slice, and other work runs after each slice. Several long texts therefore delay a reply no
 * more than one does.
 */
function createTextAppender(model: LlamaModel) {
  const turns = createLendingPool(['the turn'])

  function slice(tokens: Token[], text: string): void {
    append(tokens, model.tokenize(text, false, tokens.length > 0 ? 'trimLeadingSpace' : undefined))
  }

  return async (tokens: Token[], text: string, isCancelled: () => boolean): Promise<void> => {
    if (text.length <= sliceLength) return slice(tokens, text)
    for (const part of slicesOf(text, sliceLength)) {
      if (isCancelled()) return
      const turn = await turns.take()
      try {
        if (!isCancelled()) slice(tokens, part)
      } finally {
        void setImmediate().then(() => turns.giveBack(turn))
      }
    }
  }
}

/** Pushes one by one, because spreading a very long array overflows the stack. */
function append(tokens: Token[], more: readonly Token[]): void {
  for (const token of more) tokens.push(token)
}
