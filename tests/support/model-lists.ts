import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { parseObject } from './json.ts'
import { serve } from './server.ts'

/**
 * What one address answers: JSON or a page with status 200, a bare status, nothing until the answers change, a body without an
 * end, or the beginning of one.
 */
type Answer =
  | { readonly json: unknown }
  | { readonly page: string }
  | { readonly status: number; readonly location?: string }
  | 'hangs'
  | 'endless'
  | 'stalls'

/** By method and path: `GET /v1/models`. A `POST` is looked up with its model: `POST /api/show llama3.2`. */
export type Answers = Readonly<Record<string, Answer>>

/** A server on a real socket that only says what models it has. Every other address is 404. */
export interface ModelServer {
  /** Without the version. */
  readonly origin: string
  /** Method and path of each request, with the key that it carried. */
  readonly asked: string[]
  /** Requests without an answer. */
  readonly held: readonly string[]
  /** Replaces the answers, also of requests that hang. */
  answer(answers: Answers): void
  close(): Promise<void>
}

export async function startModelServer(initial: Answers): Promise<ModelServer> {
  let answers = initial
  const asked: string[] = []
  const held = new Map<ServerResponse, string>()
  const send = (response: ServerResponse, place: string): void => {
    const answer = answers[place] ?? { status: 404 }
    if (answer === 'hangs') return void held.set(response, place)
    held.delete(response)
    if (answer === 'stalls') return void response.write('{"data":[')
    if (answer === 'endless') return pour(response)
    if ('page' in answer) response.setHeader('content-type', 'text/html').end(answer.page)
    else if ('json' in answer) response.setHeader('content-type', 'application/json').end(JSON.stringify(answer.json))
    else response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end('{}')
  }
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const model = body === '' ? undefined : parseObject(body)['model']
    const place = `${request.method} ${request.url}${typeof model === 'string' ? ` ${model}` : ''}`
    const key = request.headers['x-api-key'] ?? request.headers.authorization?.replace(/^Bearer /, '')
    asked.push(key === undefined ? place : `${place} with ${String(key)}`)
    send(response, place)
  }
  const { url: origin, ...server } = await serve((request, response) => void receive(request, response))

  return Object.freeze({
    ...server,
    origin,
    asked,
    get held() {
      return [...held.values()]
    },
    answer(next: Answers) {
      answers = next
      for (const [response, place] of held) send(response, place)
    },
  })
}

function pour(response: ServerResponse): void {
  const more = (): void => {
    while (!response.closed && response.write(' '.repeat(65_536))) continue
  }
  response.on('drain', more)
  more()
}

const list = (...data: readonly object[]): Answer => ({ json: { object: 'list', data } })
const named = (owner: string) => (id: string) => ({ id, object: 'model', created: 1_700_000_000, owned_by: owner })
const tollgateModel = (id: string, rest: object) => ({ ...named('tollgate')(id), kind: 'text', aliases: [], ...rest })

/** The lists of real servers, shortened. */
export const modelLists = {
  openai: { 'GET /v1/models': list(...['gpt-4o', 'text-embedding-3-small'].map(named('system'))) },
  openRouter: {
    'GET /v1/models': list(
      {
        id: 'vendor/large',
        canonical_slug: 'vendor/large',
        name: 'Large',
        context_length: 200_000,
        architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'], tokenizer: 'Other' },
        pricing: { prompt: '0.000003', completion: '0.000015' },
        top_provider: { context_length: 128_000, max_completion_tokens: 16_384, is_moderated: true },
        supported_parameters: [
          'max_tokens',
          'tools',
          'tool_choice',
          'response_format',
          'reasoning',
          'include_reasoning',
        ],
      },
      {
        id: 'vendor/small:free',
        context_length: 8192,
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        top_provider: { context_length: 8192, max_completion_tokens: null },
        supported_parameters: ['max_tokens', 'temperature', 'top_k', 'min_p', 'seed'],
      },
      {
        id: 'vendor/painter',
        context_length: 4096,
        architecture: { input_modalities: ['text'], output_modalities: ['image'] },
        top_provider: { context_length: null, max_completion_tokens: null },
        supported_parameters: [],
      },
    ),
  },
  liteLlm: {
    'GET /v1/models': list(...['team-chat', 'team-embed', 'team-new'].map(named('openai'))),
    'GET /v1/model/info': {
      json: {
        data: [
          {
            model_name: 'team-chat',
            litellm_params: { model: 'azure/gpt-4o' },
            model_info: {
              id: 'a',
              mode: 'chat',
              max_tokens: 16_384,
              max_input_tokens: 128_000,
              max_output_tokens: 16_384,
              supports_function_calling: true,
              supports_vision: true,
              supports_reasoning: false,
              supports_response_schema: true,
              supports_pdf_input: null,
            },
          },
          {
            model_name: 'team-chat',
            litellm_params: { model: 'hosted_vllm/other' },
            model_info: { id: 'b', mode: 'chat', max_input_tokens: 32_768, supports_vision: false },
          },
          { model_name: 'team-embed', model_info: { id: 'c', mode: 'embedding', max_input_tokens: 8191 } },
        ],
      },
    },
  },
  vllm: {
    'GET /v1/models': list({
      ...named('vllm')('Qwen/Qwen3-8B'),
      root: 'Qwen/Qwen3-8B',
      parent: null,
      max_model_len: 40_960,
      permission: [{ id: 'modelperm-1', object: 'model_permission', allow_sampling: true }],
    }),
  },
  llamaServer: {
    'GET /v1/models': list({
      ...named('llamacpp')('gemma.gguf'),
      architecture: { input_modalities: ['text'], output_modalities: ['text'] },
      meta: { vocab_type: 2, n_vocab: 262_144, n_ctx_train: 131_072, n_embd: 1536, size: 3_090_917_516 },
    }),
    'GET /props': {
      json: {
        default_generation_settings: { n_ctx: 8192, params: { n_predict: -1 } },
        total_slots: 4,
        modalities: { vision: false, audio: false },
        chat_template: '…',
        chat_template_caps: { supports_tools: false, supports_tool_calls: false },
      },
    },
  },
  ollama: {
    'GET /v1/models': list(...['llama3.2:latest', 'gemma3', 'nomic-embed-text'].map(named('library'))),
    'POST /api/show llama3.2:latest': {
      json: {
        parameters: 'stop "<|eot_id|>"\nnum_ctx                        16384',
        capabilities: ['completion', 'tools'],
        model_info: { 'general.architecture': 'llama', 'llama.context_length': 131_072 },
      },
    },
    'POST /api/show gemma3': {
      json: {
        capabilities: ['completion', 'vision', 'thinking'],
        model_info: { 'general.architecture': 'gemma3', 'gemma3.context_length': 131_072 },
      },
    },
    'POST /api/show nomic-embed-text': {
      json: { capabilities: ['embedding'], model_info: { 'nomic-bert.context_length': 2048 } },
    },
  },
  mistral: {
    'GET /v1/models': list(
      {
        ...named('mistralai')('mistral-small'),
        capabilities: { completion_chat: true, function_calling: true, vision: false, fine_tuning: false },
        max_context_length: 131_072,
        aliases: ['mistral-small-latest'],
        type: 'base',
      },
      {
        ...named('mistralai')('mistral-embed'),
        capabilities: { completion_chat: false, function_calling: false, vision: false },
        max_context_length: 8192,
      },
    ),
  },
  anthropic: {
    'GET /v1/models?limit=1000': {
      json: {
        data: [
          {
            type: 'model',
            id: 'model-new',
            display_name: 'New',
            created_at: '2026-01-01T00:00:00Z',
            max_input_tokens: 200_000,
            max_tokens: 64_000,
            capabilities: {
              batch: { supported: true },
              image_input: { supported: true },
              pdf_input: { supported: true },
              structured_outputs: { supported: true },
              thinking: { supported: false, types: {} },
            },
          },
        ],
        has_more: true,
        first_id: 'model-new',
        last_id: 'model-new',
      },
    },
    'GET /v1/models?limit=1000&after_id=model-new': {
      json: {
        data: [{ type: 'model', id: 'model-old' }],
        has_more: false,
        first_id: 'model-old',
        last_id: 'model-old',
      },
    },
  },
  tollgate: {
    'GET /v1/models': list(
      tollgateModel('fast', { context_length: 32_768, max_output_tokens: 4096, capabilities: ['tools', 'json'] }),
      tollgateModel('tiny', { context_length: 1024, max_output_tokens: 512, capabilities: ['forced_tools', 'json'] }),
    ),
  },
} satisfies Readonly<Record<string, Answers>>
