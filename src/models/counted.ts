import {
  filesOf,
  type Message,
  type Part,
  type PartsMessage,
  type Prompt,
  type ReplyFormat,
  type TextMessage,
  type Tool,
} from './conversation.ts'
import { fieldsInPrompt } from './vendor-fields.ts'
import { patches, tiles, type ImageTokens } from './vendors/vendor.ts'
import { vendors } from './vendors/vendors.ts'

/**
 * All text of a prompt, as messages of text only: what a tokenizer can count. Tools and schemas count as a further message,
 * in the JSON in which vendors write them, as do fields of a vendor that its chat template may show. Of a file, only the name is text: `fileTokens` counts the rest, as `signatureTokens`
 * does the signatures of reasoning.
 */
export function countedMessages(prompt: Prompt): readonly TextMessage[] {
  const { messages, tools, format, vendorFields } = prompt
  const shown = fieldsInPrompt(vendorFields)
  const described = [
    ...(tools ?? []).map(withoutField),
    ...(format?.kind === 'schema' ? [withoutField(format)] : []),
    ...(shown ? [shown] : []),
  ]
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

/** The larger of two rules. */
const either =
  (one: ImageTokens, other: ImageTokens): ImageTokens =>
  (...image) =>
    Math.max(one(...image), other(...image))

/** The documented rules of vendors. */
const rules = vendors.flatMap(({ images = [] }) => images)

/** A bound for all other models: no rule of a vendor that we know costs more, but for its smallest models. */
const others = either(tiles(85, 170), patches(28, 16_384))

/** Vendors read a page of a PDF as its text, up to this many tokens, and as an image of about this size. */
const page = { text: 3000, width: 1240, height: 1754 } as const

/**
 * The tokens of the images and documents of a prompt for a model of this name, by the rules of its vendor: an upper bound. The pages
 * of all documents must have been counted.
 */
export function fileTokens({ messages }: Prompt, upstreamModel: string): number {
  const files = filesOf(messages)
  if (files.length === 0) return 0
  const name = upstreamModel.split('/').at(-1)?.toLowerCase() ?? ''
  const [, tokensOf = others] = rules.find(([names]) => names.test(name)) ?? []
  return files.reduce((sum, { extent, detail }) => {
    if (!extent) throw new Error('the pages of a document were not counted')
    if ('width' in extent) return sum + tokensOf(extent.width, extent.height, detail)
    return sum + extent.pages * (page.text + tokensOf(page.width, page.height, 'high'))
  }, 0)
}

/**
 * The tokens of reasoning that only its vendor can read. It is sent back encrypted, in signatures; the vendor
 * decrypts it and charges it as input. `most` is what to hold. Vendors do not publish how they encode it. English text
 * has about four bytes for each token; numbers, code and other scripts have fewer.
 */
export interface SignatureTokens {
  readonly expected: number
  readonly most: number
}

const bytesPerToken = { expected: 4, most: 2 }

export function signatureTokens(prompt: Prompt): SignatureTokens {
  const bytes = signatureBytes(prompt)
  return { expected: Math.ceil(bytes / bytesPerToken.expected), most: Math.ceil(bytes / bytesPerToken.most) }
}

/** The bytes of encrypted reasoning, which are at least those of its text: an upper bound of its tokens. */
export function signatureBytes({ messages }: Prompt): number {
  let bytes = 0
  for (const { parts = [] } of messages) {
    for (const part of parts) if (part.kind === 'reasoning') bytes += bytesIn(part.signature ?? '')
  }
  return bytes
}

/** Vendors write base64 in either alphabet. */
const base64 = /^[\w+/-]*={0,2}$/

const bytesIn = (signature: string): number => Buffer.byteLength(signature, base64.test(signature) ? 'base64' : 'utf8')
