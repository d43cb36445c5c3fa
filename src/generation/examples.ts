/** The requests and responses that the documentation shows. All ask the same question and get the same reply. */
const id = '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'
const created = 1_760_082_400
const instructions = 'Answer in one sentence.'
const question = 'What is a ledger?'
const parts = ['A ledger is', ' the complete record', ' of what was paid and owed.']
const text = parts.join('')
const model = 'default'
/** What a response names as the model: the alias is resolved. */
const served = 'tiny'

const events = (...all: readonly (readonly [name: string, data: object])[]): string =>
  all.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join('')
const typed = (...all: readonly { readonly type: string }[]): string =>
  events(...all.map((data) => [data.type, data] as const))

export const embeddingsExample = {
  request: { model: 'embeddings', input: [question, text] },
  response: {
    object: 'list',
    data: [
      { object: 'embedding', index: 0, embedding: [0.0023, -0.0093, 0.0158] },
      { object: 'embedding', index: 1, embedding: [-0.0061, 0.0127, 0.0044] },
    ],
    model: 'embeddings',
    usage: { prompt_tokens: 20, total_tokens: 20 },
  },
}

// ---- Tollgate's own API

const generated = { output_text: text, stop_reason: 'complete', usage: { input_tokens: 30, output_tokens: 14 } }

export const generateExample = {
  request: { model, instructions, input: question, max_output_tokens: 60 },
  response: generated,
  events: events(...parts.map((delta) => ['output_text.delta', { delta }] as const), ['done', generated]),
}

export const countExample = { input_tokens: 30, max_cost: '0.000027' }

export const modelExample = {
  id: served,
  object: 'model',
  type: 'model',
  display_name: served,
  created,
  created_at: new Date(created * 1000).toISOString(),
  owned_by: 'tollgate',
  kind: 'text',
  context_length: 1024,
  max_output_tokens: 512,
  capabilities: ['forced_tools', 'json'],
  price: { input: '0.1', output: '0.4', currency: 'USD' },
  aliases: [model],
}

export const modelsExample = {
  object: 'list',
  data: [modelExample],
  has_more: false,
  first_id: served,
  last_id: served,
}

// ---- OpenAI's chat completions

const messages = [{ role: 'user', content: question }]
const completion = { id: `chatcmpl-${id}`, created, model: served }
const chunk = (delta: object, finishReason: string | null = null) => {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]
  return `data: ${JSON.stringify({ ...completion, object: 'chat.completion.chunk', choices })}\n\n`
}

export const chatExample = {
  request: {
    model,
    messages: [{ role: 'system', content: instructions }, ...messages],
    max_completion_tokens: 60,
  },
  response: {
    ...completion,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 30,
      completion_tokens: 14,
      total_tokens: 44,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    },
  },
  events: [...parts.map((content) => chunk({ content })), chunk({}, 'stop'), 'data: [DONE]\n\n'].join(''),
}

// ---- OpenAI's responses

const output = {
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
}
const response = {
  id: `resp_${id}`,
  object: 'response',
  created_at: created,
  status: 'completed',
  incomplete_details: null,
  model: served,
  output: [output],
  instructions,
  max_output_tokens: 60,
  metadata: {},
  parallel_tool_calls: true,
  reasoning: null,
  temperature: 0,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  background: false,
  error: null,
  previous_response_id: null,
  service_tier: 'default',
  store: false,
  truncation: 'disabled',
  usage: {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 14,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 44,
  },
}

const responseCompleted = { type: 'response.completed', sequence_number: 10, response }

export const responsesExample = {
  request: { model, instructions, input: question, max_output_tokens: 60 },
  response,
  events: typed(
    ...parts.map((delta, index) => ({
      type: 'response.output_text.delta',
      sequence_number: index + 4,
      item_id: output.id,
      output_index: 0,
      content_index: 0,
      delta,
      logprobs: [],
    })),
    responseCompleted,
  ),
}

// ---- Anthropic's messages

const usage = {
  input_tokens: 30,
  output_tokens: 14,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

const messageDelta = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }

export const messagesExample = {
  request: { model, max_tokens: 60, system: instructions, messages },
  response: {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: served,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage,
  },
  events: typed(
    ...parts.map((part) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: part },
    })),
    messageDelta,
    { type: 'message_stop' },
  ),
}

export const countMessagesExample = {
  request: { model, system: instructions, messages },
  response: { input_tokens: 30 },
}
