import { randomBytes } from 'node:crypto'
import type { Delta, Prompt, Tool } from '../conversation.ts'
import type { StreamPart } from '../model.ts'
import { grammarOf, grammarOfCall } from './grammar/grammar.ts'

/**
 * The tools of which the reply must call one. Empty if the reply is a text: other choices are refused, and `none` makes the
 * tools have no effect.
 */
export function forcedTools({ tools = [], toolChoice }: Pick<Prompt, 'tools' | 'toolChoice'>): readonly Tool[] {
  if (toolChoice === 'required') return tools
  return typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.tool) : []
}

/** The grammar of the reply; undefined for any text. Throws Problem `invalid_field` for a schema that it cannot enforce. */
export function replyGrammar(prompt: Prompt): string | undefined {
  const tools = forcedTools(prompt)
  if (tools.length > 0) return grammarOfCall(tools)
  return prompt.format && grammarOf(prompt.format)
}

/** Turns the text of a reply within the grammar of a call into that call. `tools` are those of the grammar. */
export async function* asCall(parts: AsyncIterable<StreamPart>, tools: readonly Tool[]): AsyncGenerator<StreamPart> {
  const read = createCallReader(tools)
  for await (const part of parts) {
    if (part.kind !== 'texts') yield part
    else {
      const deltas = read(part.texts.join(''))
      if (deltas.length > 0) yield { kind: 'deltas', deltas }
    }
  }
}

/** Reads the pieces of a reply: the arguments, after the name of the tool and a space if there are several tools. */
function createCallReader(tools: readonly Tool[]): (text: string) => readonly Delta[] {
  const [only] = tools
  let begun = false
  let name = tools.length === 1 && only ? `${only.name} ` : ''

  return (text) => {
    if (begun) return input(text)
    name += text
    const [tool = '', ...rest] = name.split(' ')
    if (rest.length === 0 || text === '') return []
    begun = true
    // Its tokens, if it had any, had no deltas.
    const call: Delta = { kind: 'call', id: newId(), tool, withoutTokens: true }
    return [call, ...input(rest.join(' '))]
  }
}

const input = (json: string): readonly Delta[] => (json === '' ? [] : [{ kind: 'input', json }])

/** No other call has it, in any conversation. */
const newId = (): string => `call_${randomBytes(12).toString('hex')}`
