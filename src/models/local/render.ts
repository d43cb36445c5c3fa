import {
  JinjaTemplateChatWrapper,
  SpecialToken,
  type ChatHistoryItem,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import type { Prompt, TextMessage } from '../conversation.ts'
import { plainMessages } from './plain-messages.ts'
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
