import { Type, type Static } from 'typebox'
import { claudeFormat } from '../../vendors/openrouter.ts'
import { at } from '../../../platform/text/json.ts'

export const TextField = Type.Optional(Type.Union([Type.String(), Type.Null()]))

/** Mistral sends a list where a reply has reasoning. */
const ContentField = Type.Optional(
  Type.Union([Type.String(), Type.Null(), Type.Array(Type.Object({ type: Type.String() }))]),
)

/** The fields of a message, and of a piece of one, except its calls. */
export const contentFields = {
  content: ContentField,
  /** vLLM and OpenRouter. */
  reasoning: TextField,
  /** DeepSeek, llama.cpp, SGLang and older versions of vLLM. Some servers send both. */
  reasoning_content: TextField,
  /** OpenRouter. Their text is in `reasoning`, too. */
  reasoning_details: Type.Optional(Type.Unknown()),
}

const Content = Type.Object(contentFields)

export interface Signature {
  readonly signature: string
  readonly redacted?: true
}

/** A signature, with the text that it signs if that is beside it. */
interface SignedText extends Signature {
  readonly text?: string
}

export interface ChatContent {
  readonly text: string
  readonly reasoning: string
  /** Undefined if there are none. */
  readonly signatures: readonly SignedText[] | undefined
}

export function readContent(message: Static<typeof Content>): ChatContent {
  const { content, reasoning, reasoning_content: plain, reasoning_details: details } = message
  const signatures = Array.isArray(details) ? details.flatMap(signatureIn) : []
  const isList = Array.isArray(content)
  return {
    text: isList ? textsIn(content, 'text') : (content ?? ''),
    reasoning: plain || reasoning || (isList ? thinkingIn(content) : ''),
    signatures: signatures.length > 0 ? signatures : undefined,
  }
}

const thinkingIn = (chunks: readonly object[]): string =>
  chunks
    .map((chunk) => (stringIn(chunk, 'type') === 'thinking' ? textsIn(listIn(chunk, 'thinking'), 'text') : ''))
    .join('')

const textsIn = (chunks: readonly unknown[], type: string): string =>
  chunks.map((chunk) => (stringIn(chunk, 'type') === type ? (stringIn(chunk, 'text') ?? '') : '')).join('')

/** The signature in one of the details. */
function signatureIn(detail: unknown): SignedText[] {
  const format = stringIn(detail, 'format') ?? claudeFormat
  if (format !== claudeFormat) return []
  const data = stringIn(detail, 'data')
  if (data) return [{ signature: data, redacted: true }]
  const signature = stringIn(detail, 'signature')
  if (!signature) return []
  const text = stringIn(detail, 'text')
  return [{ signature, ...(text !== undefined && { text }) }]
}

function stringIn(value: unknown, name: string): string | undefined {
  const found = at(value, name)
  return typeof found === 'string' ? found : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const found = at(value, name)
  return Array.isArray(found) ? found : []
}
