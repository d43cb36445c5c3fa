import type { Command } from 'commander'
import { formatPrice } from '../billing/money.ts'
import { priceOf } from '../billing/price-rule.ts'
import type { Price, PriceEntry, Prices } from '../billing/prices.ts'
import type { ModelConfig } from '../platform/config/config.ts'
import { id } from '../platform/config/values.ts'
import { OperatorError } from '../platform/problems.ts'
import { priceArgument, priceIn } from './amounts.ts'
import { argument, command, group, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor } from './format.ts'
import { operator } from './operator.ts'
import { warn, writeJson, writeLines, writeTable } from './output.ts'
import { beginningIn, parseTimeOption, type Moment } from './times.ts'

interface SetOptions extends CommonOptions {
  readonly input: string
  readonly output: string
  readonly from?: Moment
}

export function priceCommand(context: Context): Command {
  return group('price', 'Manage prices per million tokens', [setCommand(context), listCommand(context)])
}

function setCommand(context: Context): Command {
  return command(
    'set',
    'Set the price of a model; past charges keep theirs',
    'price set tiny --input 0.10 --output 0.40',
  )
    .argument('<model>', 'the id of the model', argument(id.parse))
    .requiredOption('--input <price>', 'per million input tokens', priceArgument)
    .requiredOption('--output <price>', 'per million output tokens; must be higher than --input', priceArgument)
    .option('--from <when>', 'a date, a time or a duration such as 7d (default: now)', argument(parseTimeOption))
    .action(async (model: string, { json, from, ...typed }: SetOptions) => {
      const input = await priceIn(context, '--input', typed.input)
      const output = await priceIn(context, '--output', typed.output)
      const { models, aliases } = await context.config()
      const configured = models.find((each) => each.id === model)
      const named = Object.hasOwn(aliases, model) ? aliases[model] : undefined
      if (configured === undefined && named !== undefined) {
        throw new OperatorError(`${model} is an alias of ${named}: set the price of ${named}.`)
      }
      const validFrom = await withPrices(context, async (prices) => {
        await writeFirst(prices, model, configured?.price)
        return prices.set(model, { input, output }, operator(), from && (await beginningIn(context, from)))
      })
      if (configured === undefined) warn(context, `Not in the configuration yet: ${model}.`)
      const document = { model, ...amounts({ input, output }), valid_from: validFrom.toISOString() }
      if (json) return writeJson(context, document)
      const format = await formatFor(context)
      return writeLines(
        context,
        `${model} costs ${format.money(document.input)} per million input tokens and ${format.money(document.output)} per million output tokens from ${format.minute(validFrom)}.`,
      )
    })
}

function listCommand(context: Context): Command {
  return command('list', 'List all prices, past ones included', 'price list').action(
    async ({ json }: CommonOptions) => {
      const entries = await withPrices(context, (prices) => prices.list())
      if (json) return writeJson(context, { prices: entries.map(toJson) })
      const format = await formatFor(context)
      return writeTable(
        context,
        entries,
        [
          { title: 'MODEL', text: ({ model }) => model },
          format.amountColumn('INPUT', entries, ({ input }) => formatPrice(input)),
          format.amountColumn('OUTPUT', entries, ({ output }) => formatPrice(output)),
          { title: 'FROM', text: ({ validFrom }) => format.minute(validFrom) },
          { title: 'SOURCE', text: ({ source }) => source },
          { title: 'STATE', text: ({ state }) => state },
        ],
        'No prices yet. Set one: ./tollgate price set <model> --input 0.10 --output 0.40',
      )
    },
  )
}

/** Writes the configured price first, so that the first start does not override the price set by command. */
async function writeFirst(prices: Prices, model: string, configured: ModelConfig['price']): Promise<void> {
  if (configured === undefined || (await prices.list()).some((entry) => entry.model === model)) return
  await prices.sync(new Map([[model, priceOf(configured)]]))
}

async function withPrices<Result>(context: Context, work: (prices: Prices) => Promise<Result>): Promise<Result> {
  const { createPrices } = await import('../billing/prices.ts')
  const prices = createPrices({ database: await context.database(), log: await context.log() })
  try {
    return await work(prices)
  } finally {
    await prices.close()
  }
}

function toJson(entry: PriceEntry): object {
  const { model, source, state, validFrom } = entry
  return { model, ...amounts(entry), valid_from: validFrom.toISOString(), source, state }
}

function amounts({ input, output }: Price): { input: string; output: string } {
  return { input: formatPrice(input), output: formatPrice(output) }
}
