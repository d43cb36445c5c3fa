import type { Message, Part, PartsMessage, Prompt, ReplyFormat, TextMessage, Tool } from './conversation.ts'

/**
 * All text of a prompt, as messages of text only: what a tokenizer can count. Tools and schemas count as a further message,
 * in the JSON in which vendors write them. Of a file, only the name is text: `fileTokens` counts the rest, as `signatureTokens`
 * does the signatures of reasoning.
 */
export function countedMessages(prompt: Prompt): readonly TextMessage[] {
  const { messages, tools, format } = prompt
  const described = [...(tools ?? []).map(withoutField), ...(format?.kind === 'schema' ? [withoutField(format)] : [])]
  if (described.length === 0 && messages.every(isText)) return messages
  const counted = messages.map((message): TextMessage => (isText(message) ? message : countedMessage(message)))
  return described.length === 0 ? counted : [...counted, { role: 'system', text: JSON.stringify(described) }]
}

/** Where the schema was in the request does not reach the model. */
function withoutField(described: Tool | Extract<ReplyFormat, { kind: 'schema' }>): object {
  const { field: _, ...rest } = described
  return rest
}

const isText = (message: Message): message is TextMessage => message.parts === undefined

function countedMessage({ role, parts }: PartsMessage): TextMessage {
  return { role, text: countedText(parts) }
}

function countedText(parts: readonly Part[]): string {
  return parts
    .filter((part) => part.kind !== 'file' || part.name !== undefined)
    .map(countedPart)
    .join('\n')
}

function countedPart(part: Part): string {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'call':
      return `${part.tool} ${part.input}`
    case 'result':
      return countedText(part.content)
    case 'file':
      return part.name ?? ''
  }
}

/** Bytes of all text of a prompt (UTF-8). */
export function bytesOf(prompt: Prompt): number {
  return countedMessages(prompt).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
}
