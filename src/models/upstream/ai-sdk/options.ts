import type {
  CacheMark,
  FilePart,
  Prompt,
  Reasoning,
  ReplyFormat,
  ReasoningPart,
  ToolChoice,
} from '../../conversation.ts'
import { budgetOf, effortOf, openAiEffort } from '../efforts.ts'

/** Options for packages by the names under which they read them. A package ignores those of others. */
export type ProviderOptions = Readonly<Record<string, object>>

interface Optional {
  readonly providerOptions?: ProviderOptions
}

/** The name under which `@ai-sdk/openai-compatible` reads its options. */
export const compatibleName = 'upstream'

export const cacheOptions = (cache: CacheMark | undefined): Optional =>
  cache ? { providerOptions: { anthropic: cacheControl(cache) } } : {}

const cacheControl = ({ ttl }: CacheMark): object => ({ cacheControl: defined({ type: 'ephemeral', ttl }) })

/** The mark of a file for the cache, and how closely OpenAI's models look at it. */
export function fileOptions({ cache, detail }: FilePart): Optional {
  if (!cache && detail === undefined) return {}
  return {
    providerOptions: {
      ...(cache && { anthropic: cacheControl(cache) }),
      ...(detail !== undefined && { openai: { imageDetail: detail } }),
    },
  }
}

/** The signature of reasoning: of Anthropic, or the encrypted content of OpenAI. */
export function signatureOptions({ signature, redacted }: ReasoningPart): Optional {
  if (signature === undefined) return {}
  const anthropic = redacted ? { redactedData: signature } : { signature }
  return { providerOptions: { anthropic, openai: { reasoningEncryptedContent: signature } } }
}

/** The model as its vendor knows it. */
export interface AskedModel {
  readonly upstreamModel: string
  /** Whether the operator has stated that it can reason. Others may refuse even a request not to. */
  readonly reasons: boolean
}

/** What a request asks for besides the fields that every package has. */
interface RequestOptions {
  readonly providerOptions: ProviderOptions
  /** Tokens that Anthropic's package adds to the most that a reply may have. */
  readonly addedTokens: number
}

export function requestOptions(prompt: Prompt, model: AskedModel, maxOutputTokens: number): RequestOptions {
  const { tools, toolChoice, parallelCalls, format, verbosity, cacheKey, vendorFields, search } = prompt
  const { service_tier: serviceTier, inference_geo: inferenceGeo } = vendorFields ?? {}
  const reasoning = askedReasoning(prompt, model)
  const reasoningEffort = reasoning && openAiEffort(reasoning)
  const thinking = reasoning && thinkingOf(reasoning, model.upstreamModel, maxOutputTokens)
  const strictJsonSchema = strictnessOf(format)
  return {
    addedTokens: thinking?.thinking.budgetTokens ?? 0,
    providerOptions: {
      anthropic: defined({
        ...thinking,
        disableParallelToolUse: (tools && parallelCalls === false) || undefined,
        inferenceGeo,
      }),
      openai: defined({
        reasoningEffort,
        // The package would drop the effort for models whose names it does not know.
        forceReasoning: (reasoningEffort !== undefined && reasoningEffort !== 'none') || undefined,
        reasoningSummary: reasoning?.summary,
        textVerbosity: verbosity,
        // Otherwise reasoning stays on the server and cannot be sent back.
        store: reasoning && false,
        parallelToolCalls: tools && parallelCalls,
        allowedTools: onlyTool(toolChoice),
        strictJsonSchema,
        promptCacheKey: cacheKey,
        serviceTier,
        maxToolCalls: search?.maxUses,
      }),
      [compatibleName]: defined({
        reasoningEffort,
        parallel_tool_calls: tools && parallelCalls,
        strictJsonSchema,
        prompt_cache_key: cacheKey,
        service_tier: serviceTier,
      }),
    },
  }
}

/** The names of tools that OpenAI runs itself. */
const hosted: ReadonlySet<string> = new Set([
  'apply_patch',
  'code_interpreter',
  'file_search',
  'image_generation',
  'mcp',
  'web_search',
  'web_search_preview',
])

/**
 * OpenAI's package takes the choice of a caller's tool with such a name for the choice of OpenAI's own. Allowing only the caller's,
 * and requiring a call, has the intended effect.
 */
function onlyTool(choice: ToolChoice | undefined): object | undefined {
  if (typeof choice !== 'object' || !hosted.has(choice.tool)) return undefined
  return { toolNames: [choice.tool], mode: 'required' }
}

/** Whether the model is asked to think. */
export function thinks({ reasoning }: Prompt): boolean {
  const effort = reasoning && effortOf(reasoning)
  return effort !== undefined && effort !== 'none'
}

/** What is asked of the model: not to reason only of one that is known to. */
function askedReasoning({ reasoning }: Prompt, { reasons }: AskedModel): Reasoning | undefined {
  return reasoning?.effort === 'none' && !reasons ? undefined : reasoning
}

/** Packages ask for strict mode by default, in which OpenAI refuses most schemas. */
function strictnessOf(format: ReplyFormat | undefined): boolean | undefined {
  return format?.kind === 'schema' ? (format.strict ?? false) : undefined
}

/** Claude models that take a budget of tokens and no effort, and those that take an effort and no budget. */
const takesBudget = /claude-3|-4-[0125]/
const refusesBudget = /claude-[a-z]+-5-5|claude-fable-5/

/** The least budget that Anthropic accepts. */
const leastBudget = 1024

/** The most of a reply that may be reasoning. */
const mostThinking = 0.8

interface Thinking {
  readonly effort?: string | undefined
  readonly thinking: {
    readonly type: 'adaptive' | 'enabled' | 'disabled'
    readonly budgetTokens?: number
    readonly display?: 'summarized'
  }
}

/** `thinking` and `effort` of Anthropic's package; undefined: as the model does by itself. */
function thinkingOf(reasoning: Reasoning, model: string, maxOutputTokens: number): Thinking | undefined {
  const effort = effortOf(reasoning)
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  const hasBudget = reasoning.budgetTokens !== undefined && !refusesBudget.test(model)
  if (!hasBudget && !takesBudget.test(model)) {
    // Newer models return empty reasoning otherwise.
    const display = reasoning.summary && { display: 'summarized' as const }
    return { effort: effort === 'minimal' ? 'low' : effort, thinking: { type: 'adaptive', ...display } }
  }
  if (effort === undefined) return undefined
  // The budget is part of the reply. If the caller did not choose it, it leaves room for a text.
  const most = reasoning.budgetTokens === undefined ? Math.floor(maxOutputTokens * mostThinking) : maxOutputTokens - 1
  const wanted = reasoning.budgetTokens ?? budgetOf(effort) ?? leastBudget
  const budgetTokens = Math.min(wanted, most)
  return budgetTokens < leastBudget ? undefined : { thinking: { type: 'enabled', budgetTokens } }
}

const defined = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
