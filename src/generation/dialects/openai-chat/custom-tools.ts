import { isFields, type Fields } from '../body.ts'
import { checkedText } from '../messages.ts'

/**
 * Custom tools in chat completions: Cursor sends them as responses have them, in `tools`, and expects and returns each call as that of a
 * function whose arguments are the input itself, a text and not JSON.
 */

/** OpenAI's own form for chat completions has its fields in `custom`. */
export const isCustomTool = ({ type, custom }: Fields): boolean => type === 'custom' && custom === undefined

/** The names of the custom tools in a list of tools that is still to be checked. */
export function customNamesIn(tools: unknown): ReadonlySet<string> {
  if (!Array.isArray(tools)) return none
  const names = tools.flatMap((tool: unknown) =>
    isFields(tool) && isCustomTool(tool) && typeof tool['name'] === 'string' ? [tool['name']] : [],
  )
  return names.length === 0 ? none : new Set(names)
}

const none: ReadonlySet<string> = new Set()

/** A message in which the calls of custom tools have arguments as models know them. Throws Problem `invalid_field`. */
export function withCustomInputs(message: unknown, place: string, names: ReadonlySet<string>): unknown {
  if (!isFields(message) || !Array.isArray(message['tool_calls'])) return message
  const calls = message['tool_calls'].map((call: unknown, index) => {
    if (!isFields(call) || !isFields(call['function'])) return call
    return { ...call, function: withCustomInput(call['function'], `${place}.tool_calls[${index}].function`, names) }
  })
  return { ...message, tool_calls: calls }
}

/** The same for the name and arguments of one call. */
export function withCustomInput(called: Fields, place: string, names: ReadonlySet<string>): Fields {
  const { name, arguments: text } = called
  if (typeof name !== 'string' || !names.has(name) || typeof text !== 'string') return called
  return { ...called, arguments: JSON.stringify({ input: checkedText(text, `${place}.arguments`) }) }
}
