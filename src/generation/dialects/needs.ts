import type { Capability } from '../../models/capabilities.ts'
import {
  choosesFreely,
  type Effort,
  type Message,
  type Part,
  type Prompt,
  type Reasoning,
} from '../../models/conversation.ts'
import type { Need } from '../request.ts'

/** A dialect's fields of a prompt. */
interface PromptFields {
  readonly messages: string
  readonly format: string
  readonly reasoning: string
  /** Undefined where no request has one. */
  readonly verbosity?: string
  /** The effort that is the same as none named. */
  readonly defaultEffort?: Effort
}

/** What a prompt needs of a model besides text; undefined if it needs nothing. */
export function needsOf(prompt: Prompt, fields: PromptFields): readonly Need[] | undefined {
  const { messages, tools, format, reasoning, verbosity } = prompt
  if (!tools && !format && !reasoning && !verbosity && messages.every(isText)) return undefined
  const needs: Need[] = []
  if (tools) needs.push({ capability: choosesFreely(prompt) ? 'tools' : 'forced_tools', field: 'tools' })
  for (const [capability, field] of capabilitiesOf(messages, fields.messages)) needs.push({ capability, field })
  if (format) needs.push({ capability: 'json', field: fields.format })
  if (reasoning && asksToReason(reasoning, fields.defaultEffort)) {
    needs.push({ capability: 'reasoning', field: fields.reasoning })
  }
  if (verbosity && fields.verbosity) needs.push({ capability: 'verbosity', field: fields.verbosity })
  return needs.length === 0 ? undefined : needs
}

/** To reason as it does by itself, and to show a summary of what it thinks, needs nothing: any model does. */
const asksToReason = ({ effort, budgetTokens }: Reasoning, defaultEffort: Effort | undefined): boolean =>
  budgetTokens !== undefined || (effort !== undefined && effort !== 'none' && effort !== defaultEffort)

const isText = ({ parts }: Message): boolean => parts === undefined

/** What the parts need, each with the first field that needs it. */
function capabilitiesOf(messages: readonly Message[], field: string): ReadonlyMap<Capability, string> {
  const found = new Map<Capability, string>()
  const add = (part: Part): void => {
    const capability = capabilityOf(part)
    if (capability && !found.has(capability)) found.set(capability, part.kind === 'file' ? part.field : field)
    if (part.kind === 'result') part.content.forEach(add)
  }
  for (const { parts } of messages) parts?.forEach(add)
  return found
}

/** Earlier reasoning needs nothing: a model that does not reason can do without it. */
function capabilityOf(part: Part): Capability | undefined {
  switch (part.kind) {
    case 'call':
    case 'result':
      return 'forced_tools'
    case 'file':
      return part.mediaType.startsWith('image/') ? 'images' : 'documents'
    case 'text':
    case 'reasoning':
      return undefined
  }
}
