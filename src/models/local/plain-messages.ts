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

/**
 * A prompt as messages of text only, which every chat template supports. What the reply must be is asked for at the end of
 * the instructions. The grammar enforces it anyway, but only here does the model learn what the fields mean.
 */
export function plainMessages(prompt: Prompt): readonly TextMessage[] {
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
