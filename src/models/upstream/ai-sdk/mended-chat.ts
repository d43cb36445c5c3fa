import { isJsonObject, type Json } from '../../../platform/text/json.ts'
import { argumentsText } from '../chat/chat-completions.ts'

/** Makes what packages for chat completions refuse into what they accept: a server's whim must not cost a reply that has arrived. */
export interface ChatMender {
  /** A whole reply, or an event of a stream, in order; an empty text for an event that says nothing, such as a ping. */
  readonly mend: (data: string) => string
}

const lastEvent = '[DONE]'
/** For a stream that ends without a finish reason. */
const unnamedEnd = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: '' }] })
const namedReason = /"finish_reason"\s*:\s*(?!null)/
/** A finish reason or arguments that are no string. */
const odd = /"(?:finish_reason|arguments)"\s*:\s*[^\s"n]/

export function createChatMender(): ChatMender {
  let isNamed = false

  return {
    mend(data) {
      if (data === lastEvent) return isNamed ? data : `${unnamedEnd}\n\ndata: ${data}`
      isNamed ||= namedReason.test(data)
      const hasChoices = data.includes('"choices"')
      if (hasChoices && !odd.test(data)) return data
      const body = parsed(data)
      if (!isJsonObject(body)) return data
      if (Array.isArray(body['choices'])) return JSON.stringify({ ...body, choices: body['choices'].map(mendChoice) })
      return 'error' in body ? data : ''
    },
  }
}

/** A whole reply as the stream that was asked for; the same text if it is none. */
export function streamOfWhole(text: string, mend: (event: string) => string): string {
  const body = parsed(text)
  if (!isJsonObject(body) || !Array.isArray(body['choices'])) return text
  const choices = body['choices'].map((choice: unknown) =>
    isJsonObject(choice) ? { ...choice, delta: deltaOf(choice['message']) } : choice,
  )
  return [JSON.stringify({ ...body, choices }), lastEvent].map((event) => `data: ${mend(event)}\n\n`).join('')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** In a stream, each call has an index. */
function deltaOf(message: unknown): unknown {
  if (!isJsonObject(message) || !Array.isArray(message['tool_calls'])) return message
  const calls = message['tool_calls'].map((call: unknown, index) => (isJsonObject(call) ? { ...call, index } : call))
  return { ...message, tool_calls: calls }
}

function mendChoice(choice: unknown): unknown {
  if (!isJsonObject(choice)) return choice
  const { finish_reason: reason } = choice
  const isOdd = reason !== undefined && reason !== null && typeof reason !== 'string'
  return {
    ...choice,
    ...(isOdd && { finish_reason: '?' }),
    ...(isJsonObject(choice['delta']) && { delta: withTexts(choice['delta']) }),
    ...(isJsonObject(choice['message']) && { message: withTexts(choice['message']) }),
  }
}

/** With the arguments of calls as text. */
function withTexts(message: Json): Json {
  if (!Array.isArray(message['tool_calls'])) return message
  return { ...message, tool_calls: message['tool_calls'].map(withText) }
}

function withText(call: unknown): unknown {
  if (!isJsonObject(call) || !isJsonObject(call['function'])) return call
  const { arguments: input } = call['function']
  return isJsonObject(input) ? { ...call, function: { ...call['function'], arguments: argumentsText(input) } } : call
}
