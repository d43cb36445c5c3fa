import type { Neutral, UnsupportedFields } from './body.ts'

/** What becomes of a field of another vendor's API (docs/decisions/0021-fields-of-other-apis.md). */
export interface FieldRule {
  /**
   * `no effect`: the reply and its price are the same with and without it. `where taken`: passed on to models whose upstream takes
   * it, and refused by name for all others. `where priced`: the same, and the price of the model must have the value.
   */
  readonly rule: 'honoured' | 'passed on' | 'where taken' | 'where priced' | 'no effect' | 'refused'
  /** The values that are accepted and ignored. Undefined for a field of the schema, which checks its values. */
  readonly neutral?: Neutral
}

/** By path. Fields within others have a row only if Tollgate does not support them but accepts some of their values. */
export type FieldTable = Readonly<Record<string, FieldRule>>

const honoured = { rule: 'honoured' } as const
const passed = { rule: 'passed on' } as const
const taken = { rule: 'where taken' } as const
const priced = { rule: 'where priced' } as const
const unused = { rule: 'no effect' } as const
const hint = { rule: 'no effect', neutral: 'any value' } as const
const refused = (...neutral: readonly unknown[]) => ({ rule: 'refused', neutral }) as const

/** What OpenRouter adds to all three APIs. Its plugins and its choice of a model would change the price. */
const openRouter = {
  models: refused([]),
  plugins: refused([]),
  provider: taken,
  route: refused(),
  session_id: hint,
  stop_server_tools_when: refused(),
  trace: hint,
} as const

/** What it adds to both of OpenAI's APIs. */
const openRouterWithOpenAi = {
  ...openRouter,
  cache_control: refused(),
  debug: refused(),
  frequency_penalty: taken,
  image_config: refused(),
  modalities: refused(['text']),
  presence_penalty: taken,
  top_k: taken,
} as const

/** Both of OpenAI's APIs. */
const openAi = {
  metadata: honoured,
  model: honoured,
  moderation: refused(),
  parallel_tool_calls: passed,
  prompt_cache_key: passed,
  prompt_cache_options: hint,
  prompt_cache_retention: hint,
  safety_identifier: hint,
  service_tier: priced,
  store: refused(false),
  stream: honoured,
  temperature: passed,
  tool_choice: passed,
  tools: passed,
  top_logprobs: taken,
  top_p: passed,
  user: unused,
} as const

export const chatFields = {
  ...openAi,
  ...openRouterWithOpenAi,
  audio: refused(),
  chat_template_kwargs: taken,
  function_call: refused('none'),
  functions: refused([]),
  guardrails: refused([]),
  // OpenRouter's former name of `reasoning.exclude`, with the opposite meaning.
  include_reasoning: honoured,
  logit_bias: taken,
  logprobs: taken,
  max_completion_tokens: honoured,
  max_tokens: honoured,
  messages: passed,
  min_p: taken,
  n: taken,
  prediction: refused(),
  // Mistral's.
  prompt_mode: refused(),
  random_seed: refused(),
  reasoning: passed,
  reasoning_effort: passed,
  repetition_penalty: taken,
  response_format: passed,
  safe_prompt: refused(false),
  seed: passed,
  stop: honoured,
  stream_options: honoured,
  top_a: taken,
  verbosity: passed,
  web_search_options: refused(),
  // OpenAI's client adds what it parsed to the messages and calls that it returns.
  'messages[].annotations': refused([]),
  'messages[].audio': refused(),
  'messages[].function_call': refused(),
  'messages[].parsed': hint,
  // LiteLLM adds what it knows of the vendor to the messages and calls that it returns.
  'messages[].provider_specific_fields': hint,
  // A part that clients send back has the fields of the message that it came in.
  'messages[].content[].annotations': refused([]),
  'messages[].content[].prompt_cache_breakpoint': hint,
  'messages[].content[].role': refused('assistant'),
  'messages[].tool_calls[].index': hint,
  'messages[].tool_calls[].provider_specific_fields': hint,
  'messages[].tool_calls[].function.parsed_arguments': hint,
} as const satisfies FieldTable

export const responsesFields = {
  ...openAi,
  ...openRouterWithOpenAi,
  background: refused(false),
  // Codex names its installation here.
  client_metadata: hint,
  context_management: refused([]),
  conversation: refused(),
  include: honoured,
  input: passed,
  instructions: passed,
  max_output_tokens: honoured,
  // It limits the calls of tools that the vendor runs; there are none here.
  max_tool_calls: hint,
  previous_response_id: refused(),
  prompt: refused(),
  reasoning: passed,
  stream_options: { rule: 'refused', neutral: { fields: { include_obfuscation: [false] } } },
  text: passed,
  truncation: refused('disabled'),
  'input[].caller': refused({ type: 'direct' }),
  'input[].parsed_arguments': hint,
  'input[].content[].annotations': refused([]),
  // A text that clients send back has those of its tokens.
  'input[].content[].logprobs': hint,
  'input[].content[].parsed': hint,
  'input[].content[].prompt_cache_breakpoint': hint,
  // All reasoning that a request has is passed on, whichever turn it is of.
  'reasoning.context': refused('auto', 'all_turns'),
  'reasoning.mode': refused('standard'),
  'tools[].allowed_callers': refused(['direct']),
  'tools[].defer_loading': refused(false),
  'tools[].output_schema': hint,
} as const satisfies FieldTable

export const messagesFields = {
  ...openRouter,
  billing_policy: refused(),
  cache_control: passed,
  compaction: refused(),
  container: refused(),
  // Claude Code asks to keep all reasoning, as is done anyway.
  context_management: refused({ edits: [] }, { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }),
  diagnostics: refused(),
  fallback_credit_token: refused(),
  fallbacks: refused(),
  inference_geo: priced,
  max_tokens: honoured,
  mcp_servers: refused([]),
  messages: passed,
  metadata: honoured,
  model: honoured,
  output_config: passed,
  output_format: passed,
  service_tier: refused('auto', 'standard_only'),
  speed: refused('standard'),
  stop_sequences: honoured,
  stream: honoured,
  system: passed,
  temperature: passed,
  thinking: passed,
  thread: refused(),
  tool_choice: passed,
  tools: passed,
  top_k: taken,
  top_p: passed,
  user: hint,
  user_profile_id: hint,
  workspace_id: hint,
  'messages[].content[].caller': refused({ type: 'direct' }),
  'messages[].content[].citations': refused([], { enabled: false }),
  'messages[].content[].toolset_name': refused(),
  'tools[].allowed_callers': refused(['direct']),
  'tools[].defer_loading': refused(false),
  // How an input is cut into events never changes the input.
  'tools[].eager_input_streaming': hint,
  'tools[].input_examples': refused([]),
} as const satisfies FieldTable

/** The fields of the object at `path` that the parsers accept with neutral values only. */
export function neutralIn(table: FieldTable, path = ''): UnsupportedFields {
  return Object.fromEntries(
    Object.entries(table).flatMap(([field, { neutral }]) => {
      const name = field.startsWith(path) ? field.slice(path.length) : ''
      return neutral !== undefined && /^\w+$/.test(name) ? [[name, neutral]] : []
    }),
  )
}
