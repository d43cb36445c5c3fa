import { priceOf } from '../../billing/prices/price-rule.ts'
import type { Price } from '../../billing/prices/prices.ts'
import { isForEmbeddings, kindOf, type ModelConfig } from '../../platform/config/config.ts'
import type { Context } from '../context.ts'

/** A configured model, and whether requests can use it. */
export interface SurveyedModel {
  readonly id: string
  readonly engine: ModelConfig['engine']
  readonly context: number
  readonly maxOutputTokens: number
  readonly aliases: readonly string[]
  /** The price in force, or else the configured price, which takes effect at the next start. */
  readonly price: Price | null
  /** Why it is not callable, and what to do; null if it is. */
  readonly fault: string | null
}

/** Checks the file or package, and the price, of every configured model. */
export async function surveyModels(context: Context): Promise<SurveyedModel[]> {
  const { models, aliases } = await context.config()
  const inForce = await pricesInForce(context)
  return Promise.all(
    models.map(async (model) => {
      const price = inForce.get(model.id) ?? (model.price ? priceOf(model.price) : null)
      return {
        id: model.id,
        engine: model.engine,
        context: model.context,
        maxOutputTokens: isForEmbeddings(model) ? 0 : model.max_output_tokens,
        aliases: Object.keys(aliases).filter((alias) => aliases[alias] === model.id),
        price,
        fault:
          (await faultOfModel(model, models)) ??
          (price === null
            ? `It has no price. Set one: ./tollgate price set ${model.id} --input 0.10${isForEmbeddings(model) ? '' : ' --output 0.40'}`
            : null),
      }
    }),
  )
}

/** The fault of a local model's file or an upstream model's package, and its remedy; null if there is none. */
export async function faultOfModel(model: ModelConfig, all: readonly ModelConfig[]): Promise<string | null> {
  if (model.engine === 'ai-sdk') {
    const { faultOfProvider } = await import('../../models/upstream/ai-sdk/provider.ts')
    const packages = all.flatMap((other) => (other.engine === 'ai-sdk' ? [other.package] : []))
    return faultOfProvider(model.package, packages)
  }
  if (model.engine !== 'local') return null
  const { inspectModelFile } = await import('../../models/local/gguf.ts')
  const inspected = await inspectModelFile(model.file, kindOf(model))
  return inspected.ok ? null : inspected.reason
}

async function pricesInForce(context: Context): Promise<Map<string, Price>> {
  const { createPrices } = await import('../../billing/prices/prices.ts')
  const prices = createPrices({ database: await context.database(), log: await context.log() })
  try {
    const entries = await prices.list()
    return new Map(entries.filter(({ state }) => state === 'in force').map((entry) => [entry.model, entry]))
  } finally {
    await prices.close()
  }
}
