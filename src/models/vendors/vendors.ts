import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { deepSeek } from './deepseek.ts'
import { google } from './google.ts'
import { liteLlm } from './litellm.ts'
import { llamaServer } from './llama-server.ts'
import { miniMax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshot } from './moonshot.ts'
import { openAi } from './openai.ts'
import { openRouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import { otherTollgate } from './tollgate.ts'
import type { Vendor } from './vendor.ts'
import { vllm } from './vllm.ts'
import { zhipu } from './zhipu.ts'

/** All of which anything is known. */
export const vendors: readonly Vendor[] = [
  anthropic,
  bedrock,
  deepSeek,
  google,
  liteLlm,
  llamaServer,
  miniMax,
  mistral,
  moonshot,
  openAi,
  openRouter,
  perplexity,
  otherTollgate,
  vllm,
  zhipu,
]
