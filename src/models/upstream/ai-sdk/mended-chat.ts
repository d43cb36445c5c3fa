import { isJsonObject, type Json } from '../../../platform/text/json.ts'
import { argumentsText, callIdOf, callIndexOf, isNothing, listedChoices } from '../chat/chat-completions.ts'

/** Makes what packages for chat completions refuse into what they accept: a server's whim must not cost a reply that has arrived. */
export interface ChatMender {
  /** A whole reply, or an event of a stream, in order; an empty text for an event that says nothing, such as a ping. */
  readonly mend: (data: string) => string
}

const lastEvent = '[DONE]'
/** For a stream that ends without a finish reason. */
const unnamedEnd = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: '' }] })
const namedReason = /"finish_reason"\s*:\s*(?!null)/
/** Values that packages refuse, though nobody needs them. */
const odd =
  /"(?:finish_reason|id|model)"\s*:\s*[^\s"n]|"created"\s*:\s*[^\s\dn]|"choices"\s*:\s*[^\s[]|"role"\s*:\s*"(?!assistant"|")/

export function createChatMender(): ChatMender {
  let isNamed = false

  return {
    mend(data) {
      if (data === lastEvent) return isNamed ? data : `${unnamedEnd}\n\ndata: ${data}`
      isNamed ||= namedReason.test(data)
      // Each package reads the calls of a reply in its own way.
      const isPlain = data.includes('"choices"') && !data.includes('"tool_calls"')
      if (isPlain && !odd.test(data)) return data
      const body = parsed(data)
      if (isNothing(body)) return ''
      if (!isJsonObject(body)) return data
      const choices = listedChoices(body['choices'])
      if (Array.isArray(choices)) return JSON.stringify({ ...withoutOdd(body), choices: choices.map(mendChoice) })
      return 'error' in body || 'choices' in body ? data : ''
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

/** Without an id, a time or a model of another type. */
function withoutOdd({ id, created, model, ...body }: Json): Json {
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof created === 'number' && { created }),
    ...(typeof model === 'string' && { model }),
    ...body,
  }
}

function mendChoice(choice: unknown): unknown {
  if (!isJsonObject(choice)) return choice
  const { finish_reason: reason, delta, message } = choice
  const isOdd = reason !== undefined && reason !== null && typeof reason !== 'string'
  return {
    ...choice,
    ...(isOdd && { finish_reason: '?' }),
    ...(isJsonObject(delta) && { delta: mendMessage(delta) }),
    ...(isJsonObject(message) && { message: mendMessage(message) }),
  }
}

/** Its role is the assistant's, whatever the server says. */
function mendMessage(message: Json): Json {
  const { tool_calls: calls } = message
  return { ...message, role: undefined, ...(Array.isArray(calls) && { tool_calls: calls.map(mendCall) }) }
}

/** With its id and its arguments as text, and with a number as its index. */
function mendCall(call: unknown): unknown {
  if (!isJsonObject(call)) return call
  const { id, index, function: called } = call
  const numbered = typeof id === 'number' ? callIdOf(id) : id
  const { arguments: input, ...rest } = isJsonObject(called) ? called : {}
  const text = typeof input === 'string' ? input : argumentsText(isJsonObject(input) ? input : undefined)
  return { ...call, id: numbered, index: callIndexOf(index), function: { ...rest, arguments: text } }
}
