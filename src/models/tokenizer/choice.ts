import { vendors } from '../vendors/vendors.ts'

/** What counts the tokens of an upstream model. */
export type TokenizerChoice =
  | { readonly by: 'bytes' }
  /** An encoding's name, or the path of a `tokenizer.json`. */
  | { readonly by: 'text'; readonly source: string }
  | { readonly by: 'server'; readonly api: CountingApi }

/** The servers whose own count can be used. */
export type CountingApi = 'vllm' | 'llama-server' | 'anthropic'

export interface ChoiceNeeds {
  /** `models[].tokenizer` of the configuration. */
  readonly setting: string
  readonly upstreamModel: string
  /** Whether the upstream is Anthropic's API and its key is known. */
  readonly isAnthropic: boolean
}

const apis: readonly CountingApi[] = ['vllm', 'llama-server', 'anthropic']

const encodings = vendors.flatMap((vendor) => vendor.encodings ?? [])

/** `auto` follows the upstream's name of the model, without a vendor's prefix such as `openai/`. */
export function chooseTokenizer({ setting, upstreamModel, isAnthropic }: ChoiceNeeds): TokenizerChoice {
  if (setting === 'bytes') return { by: 'bytes' }
  const api = apis.find((name) => name === setting)
  if (api) return { by: 'server', api }
  if (setting !== 'auto') return { by: 'text', source: setting }
  const name = upstreamModel.split('/').at(-1)?.toLowerCase() ?? ''
  const [, encoding] = encodings.find(([names]) => names.test(name)) ?? []
  if (encoding !== undefined) return { by: 'text', source: encoding }
  return isAnthropic && name.startsWith('claude') ? { by: 'server', api: 'anthropic' } : { by: 'bytes' }
}
