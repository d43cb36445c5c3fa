import { LlamaGrammarEvaluationState, type LlamaGrammar, type LlamaModel } from 'node-llama-cpp'

/** Compiled grammars that are kept: callers repeat a few schemas. */
const mostKept = 32

/** Returns the function that begins a reply within a grammar (GBNF). It throws if the grammar cannot be compiled. */
export function createGrammars(model: LlamaModel): (text: string) => Promise<LlamaGrammarEvaluationState> {
  const compiled = new Map<string, LlamaGrammar>()

  async function compile(text: string): Promise<LlamaGrammar> {
    const known = compiled.get(text)
    compiled.delete(text)
    const grammar = known ?? (await model.llama.createGrammar({ grammar: text }))
    compiled.set(text, grammar)
    const [oldest] = compiled.keys()
    if (compiled.size > mostKept && oldest !== undefined) compiled.delete(oldest)
    return grammar
  }

  return async (text) => new LlamaGrammarEvaluationState({ model, grammar: await compile(text) })
}
