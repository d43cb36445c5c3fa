import type { Logger } from 'pino'
import { isForEmbeddings, type ModelConfig } from '../platform/config/config.ts'
import { OperatorError } from '../platform/problems.ts'
import { createEmbeddingEngine } from './local/embedding-engine.ts'
import { createLocalEngine } from './local/engine.ts'
import type { Model } from './model.ts'
import { anthropicUrl, apiAt, type AskedServer } from './reported/ask.ts'
import type { Detection } from './reported/detection.ts'
import { createTokenizer, faultOfTokenizerFile, type CountingThread, type Tokenizer } from './tokenizer/tokenizer.ts'
import type { Provider } from './upstream/ai-sdk/provider.ts'
import type { EndpointOptions } from './upstream/pool/endpoint.ts'
import { acceptedBy } from './upstream/chat/chat-messages.ts'
import { createEmbeddingModel } from './upstream/embeddings/model.ts'
import { createOpenAiModel } from './upstream/chat/openai.ts'

export interface ModelNeeds {
  /** The AI SDK packages of the configuration, by name. */
  readonly providers: ReadonlyMap<string, Provider>
  readonly thread: CountingThread
  readonly detection: Pick<Detection, 'of'>
  readonly log: Logger
}

/** The model that an entry of `models` describes. Throws OperatorError when it cannot be built. */
export async function buildModel(
  entry: ModelConfig,
  { providers, thread, detection, log }: ModelNeeds,
): Promise<Model> {
  const { id, context } = entry
  if (entry.engine === 'local') {
    const { file, parallel } = entry
    const local = { id, context, file, parallel, log }
    if (isForEmbeddings(entry)) return createEmbeddingEngine({ ...local, dimensions: entry.dimensions })
    return createLocalEngine({ ...local, maxOutputTokens: entry.max_output_tokens })
  }
  const { upstream_model: upstreamModel, timeout } = entry
  const tokenizer = await openTokenizer(entry, thread, log)
  const called = { id, context, upstreamModel, timeout, tokenizer, log }
  if (isForEmbeddings(entry)) return createEmbeddingModel({ ...called, endpoints: entry.endpoints })
  const capabilities = entry.capabilities
    ? new Set(entry.capabilities)
    : detection.of(askedServers(entry), upstreamModel)
  const reasons = entry.capabilities?.includes('reasoning') === true
  const common = { ...called, maxOutputTokens: entry.max_output_tokens, capabilities, reasons }
  if (entry.engine === 'openai') {
    const { endpoints, pass, prefill } = entry
    return createOpenAiModel({ ...common, endpoints, pass, prefill })
  }
  const provider = providers.get(entry.package)
  if (!provider) throw new Error(`the package ${entry.package} was not loaded`)
  const { createAiSdkModel } = await import('./upstream/ai-sdk/ai-sdk.ts')
  return createAiSdkModel({
    ...common,
    provider,
    package: entry.package,
    url: entry.url,
    key: entry.key,
    continues: entry.prefill !== undefined,
  })
}

type UpstreamConfig = Exclude<ModelConfig, { engine: 'local' }>

async function openTokenizer(entry: UpstreamConfig, thread: CountingThread, log: Logger): Promise<Tokenizer> {
  const { id, tokenizer: setting, tokenizer_margin: margin, upstream_model: upstreamModel, timeout } = entry
  const fault = setting.endsWith('.json') ? await faultOfTokenizerFile(setting) : null
  if (fault !== null) throw new OperatorError(`models: the tokenizer of ${id}: ${fault}`)
  return createTokenizer({
    setting,
    margin,
    upstreamModel,
    sendsSignatures: sendsSignatures(entry),
    endpoints: countingEndpoints(entry),
    connect: timeout.connect,
    thread,
    log: log.child({ model: id }),
  })
}

/** Whether an upstream gets the signatures of earlier reasoning. `@ai-sdk/openai-compatible` leaves them out. */
function sendsSignatures(entry: UpstreamConfig): boolean {
  if (entry.engine === 'openai') return acceptedBy(entry.upstream_model).signatures
  return entry.package !== '@ai-sdk/openai-compatible'
}

/** The servers that can say what the model can do. */
function askedServers(entry: UpstreamConfig): readonly AskedServer[] {
  if (entry.engine === 'openai') return entry.endpoints.map(({ url, key }) => ({ url, key, api: apiAt(url) }))
  const api = entry.package === '@ai-sdk/anthropic' ? 'anthropic' : 'openai'
  const url = entry.url ?? (api === 'anthropic' ? anthropicUrl : undefined)
  return url === undefined ? [] : [{ url, key: entry.key, api }]
}

function countingEndpoints(entry: UpstreamConfig): readonly EndpointOptions[] {
  if (entry.engine === 'openai') return entry.endpoints
  const isAnthropic = entry.package === '@ai-sdk/anthropic' || entry.tokenizer === 'anthropic'
  const url = entry.url ?? (isAnthropic ? anthropicUrl : undefined)
  return url === undefined ? [] : [{ url, key: entry.key }]
}
