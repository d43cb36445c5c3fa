import {
  LlamaGrammarEvaluationState,
  TokenBias,
  type LlamaModel,
  type SequenceEvaluateOptions,
  type Token,
} from 'node-llama-cpp'
import { bytesOfTokens, isBadPair, isNeverUtf8, narrowFirsts } from './token-bytes.ts'

/** How to sample a reply within a grammar. */
export interface GrammarSampling {
  readonly options: Pick<SequenceEvaluateOptions, 'grammarEvaluationState' | 'tokenBias'>
  /** To be called with every token of the reply before the next one is sampled. */
  added(token: Token): void
}

/** Compiled grammars that are kept: callers repeat a few schemas. Compiling the largest one takes 0.2 s, copying it 6 ms. */
const mostKept = 32

/** Returns the function that begins a reply within a grammar (GBNF). It throws if the grammar cannot be compiled. */
export function createGrammars(model: LlamaModel): (text: string) => Promise<GrammarSampling> {
  const compiled = new Map<string, LlamaGrammarEvaluationState>()
  const biasAfter = createBiases(model)

  async function compile(text: string): Promise<LlamaGrammarEvaluationState> {
    const grammar = await model.llama.createGrammar({ grammar: text })
    return new LlamaGrammarEvaluationState({ model, grammar })
  }

  return async (text) => {
    const initial = compiled.get(text) ?? (await compile(text))
    compiled.delete(text)
    compiled.set(text, initial)
    const [oldest] = compiled.keys()
    if (compiled.size > mostKept && oldest !== undefined) compiled.delete(oldest)
    let last: Token | undefined
    return {
      options: { grammarEvaluationState: initial.clone(), tokenBias: () => biasAfter(last) },
      added: (token) => (last = token),
    }
  }
}

/**
 * Returns the function that excludes what llama.cpp would match with the grammar although the reply would not. It matches the name of
 * a control token as if it were text; in a reply, it is none. And it takes some bytes for a character that are none in UTF-8.
 */
function createBiases(model: LlamaModel): (last: Token | undefined) => TokenBias {
  const excluded: Token[] = []
  const bytes = bytesOfTokens(vocabularyOf(model))
  for (const token of model.iterateAllTokens()) {
    const { control, unknown } = model.getTokenAttributes(token)
    // Tokens that end the reply are left out: the grammar allows them at its end only.
    if (control || unknown || isNeverUtf8(bytes[token] ?? none)) excluded.push(token)
  }
  const usual = withoutTokens(model, excluded)
  const after = new Map<number | undefined, TokenBias>()
  for (const first of narrowFirsts) {
    const bad = [...model.iterateAllTokens()].filter((token) => isBadPair(first, bytes[token]?.[0]))
    after.set(first, withoutTokens(model, [...excluded, ...bad]))
  }
  return (last) => after.get(last === undefined ? undefined : bytes[last]?.at(-1)) ?? usual
}

const none = new Uint8Array()

function vocabularyOf({ fileInfo }: LlamaModel) {
  const { ggml } = fileInfo.metadata.tokenizer
  return { tokenizer: ggml.model, texts: ggml.tokens }
}

function withoutTokens(model: LlamaModel, tokens: readonly Token[]): TokenBias {
  const bias = TokenBias.for(model)
  for (const token of tokens) bias.set(token, 'never')
  return bias
}
