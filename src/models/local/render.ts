import { setImmediate } from 'node:timers/promises'
import {
  JinjaTemplateChatWrapper,
  SpecialToken,
  type ChatHistoryItem,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import type { Message, Prompt } from '../model.ts'
import { slicesOf } from '../text-slices.ts'
import { createLendingPool } from './lending-pool.ts'

/** Prompts to tokens, in the manner of one model. */
export interface Renderer {
  /**
   * The tokens of the prompt in the model's own chat template, ready for the reply. Always the same for the same
   * prompt. Only the template makes control tokens: text that looks like one is plain text. What is left of a long text
   * is left out once `isCancelled`.
   */
  render(prompt: Prompt, isCancelled?: () => boolean): Promise<Token[]>
  /** Whether this token ends the reply. */
  readonly isEnd: (token: Token) => boolean
}

/**
 * The most characters that are given to the tokenizer at once. Some of llama.cpp's tokenizers recurse once for every
 * character of an unbroken run and end the process at about 20 000 of them; and while one works, nothing else does.
 */
const sliceLength = 4096

/** Takes the chat template from the file. Throws an Error that says so when the template is missing or does not work. */
export function createRenderer(model: LlamaModel): Renderer {
  const template = model.fileInfo.metadata.tokenizer?.chat_template
  if (!template) throw new Error('The file has no chat template. Use a GGUF of a model that was tuned for chat.')
  const wrapper = new JinjaTemplateChatWrapper({ template, tokenizer: model.tokenizer })
  const { bos, shouldPrependBosToken } = model.tokens
  const closing = closingToken(wrapper, model)
  const appendText = createTextAppender(model)
  return {
    async render({ messages }, isCancelled = () => false) {
      const { contextText } = wrapper.generateContextState({ chatHistory: history(messages) })
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

/** A last message of the assistant is continued; otherwise an empty one makes the template open the reply. */
function history(messages: readonly Message[]): ChatHistoryItem[] {
  const items = messages.map(({ role, text }): ChatHistoryItem =>
    role === 'assistant' ? { type: 'model', response: [text] } : { type: role, text },
  )
  return messages.at(-1)?.role === 'assistant' ? items : [...items, { type: 'model', response: [''] }]
}

/** The control token that the template puts behind a reply, where it has one: not every file names it as an end. */
function closingToken(wrapper: JinjaTemplateChatWrapper, model: LlamaModel): Token | undefined {
  const { stopGenerationTriggers } = wrapper.generateContextState({
    chatHistory: history([{ role: 'user', text: 'Hello' }]),
  })
  const [first] = stopGenerationTriggers[1]?.tokenize(model.tokenizer) ?? []
  return first !== undefined && model.getTokenAttributes(first).control ? first : undefined
}

/**
 * Long texts take turns, slice by slice, and after each slice everything else has its own: so many of them together
 * hold up a reply no more than one.
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

/** One by one: a spread of very many arguments does not fit the stack. */
function append(tokens: Token[], more: readonly Token[]): void {
  for (const token of more) tokens.push(token)
}
