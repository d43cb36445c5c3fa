import type { Command } from 'commander'
import { formatPrice, writtenPrice } from '../../billing/prices/money.ts'
import { command, group, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { formatFor } from '../output/format.ts'
import { checkCommand } from './check.ts'
import { importCommand } from './import.ts'
import { pullCommand } from './pull.ts'
import { surveyModels, type SurveyedModel } from './survey.ts'
import { writeJson, writeTable } from '../output/output.ts'
import { recordView } from '../operator.ts'

export function modelCommand(context: Context): Command {
  return group('model', 'Manage models', [
    listCommand(context),
    importCommand(context),
    checkCommand(context),
    pullCommand(context),
  ])
}

function listCommand(context: Context): Command {
  return command('list', 'List the configured models, and why any of them cannot be called', 'model list').action(
    async ({ json }: CommonOptions) => {
      await recordView(context, { action: 'models_listed', noun: 'model' })
      const models = await surveyModels(context)
      if (json) return writeJson(context, { models: models.map(toJson) })
      const format = await formatFor(context)
      return writeTable(
        context,
        models,
        [
          { title: 'MODEL', text: ({ id, aliases }) => [id, ...aliases].join(', ') },
          { title: 'ENGINE', text: ({ engine }) => engine },
          format.numberColumn('CONTEXT', (model) => model.context),
          format.numberColumn('MAX OUTPUT', ({ maxOutputTokens }) => maxOutputTokens),
          format.amountColumn('INPUT PRICE', models, ({ price }) => priceText(price?.input)),
          format.amountColumn('OUTPUT PRICE', models, ({ price }) => priceText(price?.output)),
          { title: 'CALLABLE', text: ({ fault }) => (fault === null ? 'yes' : `no: ${fault}`) },
        ],
        'No models. Name one in the configuration: models: [{ id, engine, … }]',
      )
    },
  )
}

function priceText(price?: bigint): string {
  return price === undefined ? '' : formatPrice(price)
}

function toJson({ id, engine, aliases, context, maxOutputTokens, price, fault }: SurveyedModel): object {
  return {
    id,
    engine,
    aliases,
    context,
    max_output_tokens: maxOutputTokens,
    price: price && writtenPrice(price),
    callable: fault === null,
    fault,
  }
}
