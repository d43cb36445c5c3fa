import assert from 'node:assert/strict'
import type { Model } from '../../src/models/model.ts'
import { loadProviders, type Provider } from '../../src/models/upstream/ai-sdk/provider.ts'
import { createAiSdkModel, type AiSdkModelOptions } from '../../src/models/upstream/ai-sdk/ai-sdk.ts'
import { modelOptions, type createModels } from './vendor-run.ts'

/** Provider packages that together speak every API of the stand-in: messages, responses and chat completions. */
export const packages = ['@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'] as const
export type PackageName = (typeof packages)[number]

const providers = await loadProviders(packages)

export const providerOf = (name: PackageName): Provider => providers.get(name) ?? assert.fail(name)

/** Opens a model behind a package. */
export function openPackage(
  models: ReturnType<typeof createModels>,
  name: PackageName,
  options: Pick<AiSdkModelOptions, 'url'> & Partial<AiSdkModelOptions>,
): Model {
  const common = { ...modelOptions, id: 'careful', log: models.log, package: name, provider: providerOf(name) }
  return models.keep(createAiSdkModel({ ...common, key: 'sk-secret-of-the-vendor', ...options }))
}
