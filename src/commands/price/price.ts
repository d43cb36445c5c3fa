import type { Command } from 'commander'
import { formatPrice, writtenPrice, writtenRules, type WrittenPrice } from '../../billing/prices/money.ts'
import type { Price, PriceEntry } from '../../billing/prices/prices.ts'
import { readPriceRules } from '../../billing/prices/read-rules.ts'
import type { PriceRules } from '../../billing/prices/rules.ts'
import { parseYaml } from '../../platform/config/file.ts'
import { isForEmbeddings } from '../../platform/config/config.ts'
import { id } from '../../platform/config/values.ts'
import { OperatorError } from '../../platform/problems.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { priceArgument, priceIn } from '../output/amounts.ts'
import { argument, command, group, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { readInputFile } from '../input-file.ts'
import { formatFor, type Format } from '../output/format.ts'
import { operator, recordView } from '../operator.ts'
import { warn, writeJson, writeLines, writeTable } from '../output/output.ts'
import { beginningIn, parseTimeOption, type InstantOrDay } from '../output/times.ts'
import { priceBefore, withPrices, writeFirst } from './context.ts'
import { suggestCommand } from './suggest.ts'

interface SetOptions extends CommonOptions {
  readonly input: string
  readonly output?: string
  readonly cachedInput?: string
  readonly cacheWrite?: string
  /** A file; false: none. */
  readonly rules?: string | false
  readonly from?: InstantOrDay
}

export function priceCommand(context: Context): Command {
  return group('price', 'Manage prices per million tokens', [
    setCommand(context),
    suggestCommand(context),
    listCommand(context),
  ])
}

function setCommand(context: Context): Command {
  return command(
    'set',
    'Set the price of a model; earlier charges keep their price',
    'price set tiny --input 0.10 --output 0.40',
  )
    .argument('<model>', 'the id of the model', argument(id.parse))
    .requiredOption('--input <price>', 'per million input tokens', priceArgument)
    .option(
      '--output <price>',
      'per million output tokens; must be higher than --input (not for embeddings)',
      priceArgument,
    )
    .option('--cached-input <price>', 'per million tokens read from a prompt cache (default: as input)', priceArgument)
    .option('--cache-write <price>', 'per million tokens written to a prompt cache (default: as input)', priceArgument)
    .option(
      '--rules <file>',
      'a YAML or JSON file with its steps, service tiers and other rules, as in the configuration',
    )
    .option('--no-rules', 'leave out the rules of the price that it replaces')
    .option('--from <when>', 'a date, a time or a duration such as 7d (default: now)', argument(parseTimeOption))
    .action(async (model: string, { json, from, ...typed }: SetOptions, self: Command) => {
      const { models, aliases } = await context.config()
      const configured = models.find((each) => each.id === model)
      const kind = configured && isForEmbeddings(configured) ? 'embeddings' : 'text'
      const named = Object.hasOwn(aliases, model) ? aliases[model] : undefined
      if (configured === undefined && named !== undefined) {
        throw new OperatorError(`${model} is an alias of ${named}: set the price of ${named}.`)
      }
      if (typed.output === undefined && kind === 'text')
        self.error("error: required option '--output <price>' not specified")
      const price = await priceFrom(context, typed)
      const validFrom = await withPrices(context, async (prices) => {
        await writeFirst(prices, model, configured?.price)
        const begin = from && (await beginningIn(context, from))
        if (typed.rules === undefined) refuseLostRules(model, priceBefore(await prices.list(), model, begin))
        return prices.set(model, price, operator(), begin, kind)
      })
      if (configured === undefined) warn(context, `Not in the configuration yet: ${model}.`)
      const document = { model, ...writtenPrice(price), valid_from: validFrom.toISOString() }
      if (json) return writeJson(context, document)
      const format = await formatFor(context)
      const output = kind === 'text' ? ` and ${format.money(document.output)} per million output tokens` : ''
      return writeLines(
        context,
        `${model} costs ${format.money(document.input)} per million input tokens${output} from ${format.minute(validFrom)}.`,
        ...cacheLines(document, format),
        ...rulesLines(price),
      )
    })
}

/** A price is set as a whole: nobody should lose its steps or tiers by a change of its input price. */
function refuseLostRules(model: string, before: PriceEntry | undefined): void {
  const names = Object.keys(writtenRules(before?.rules))
  if (names.length === 0) return
  const which = before?.state === 'to come' ? 'that is scheduled' : 'in force'
  throw new OperatorError(
    `The price of ${model} ${which} also has ${names.join(', ')}: give them with --rules <file>, or leave them out with --no-rules.`,
  )
}

async function rulesFrom(file: string | false | undefined): Promise<PriceRules | undefined> {
  if (file === undefined || file === false) return undefined
  const faults: string[] = []
  const report = (place: string, reason: string): undefined => void faults.push(`${place}: ${reason}`)
  const read = parseYaml(Buffer.from(await readInputFile(file)).toString(), quoted(file), { report })
  if (faults[0] !== undefined) throw new OperatorError(faults[0])
  return readPriceRules(read)
}

function rulesLines({ rules }: Price): string[] {
  return rules ? [`Its rules: ${JSON.stringify(writtenRules(rules))}`] : []
}

async function priceFrom(context: Context, typed: SetOptions): Promise<Price> {
  const { input, output, cachedInput: cached, cacheWrite: write } = typed
  return {
    input: await priceIn(context, '--input', input),
    output: output === undefined ? 0n : await priceIn(context, '--output', output),
    cachedInput: cached === undefined ? null : await priceIn(context, '--cached-input', cached),
    cacheWrite: write === undefined ? null : await priceIn(context, '--cache-write', write),
    rules: await rulesFrom(typed.rules),
  }
}

function listCommand(context: Context): Command {
  return command('list', 'List all prices, including past ones', 'price list').action(
    async ({ json }: CommonOptions) => {
      await recordView(context, { action: 'models_listed', noun: 'model' })
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
          ...(entries.some(({ cachedInput, cacheWrite }) => (cachedInput ?? cacheWrite ?? null) !== null)
            ? [
                format.amountColumn('CACHED INPUT', entries, ({ cachedInput }) => priceOrNone(cachedInput)),
                format.amountColumn('CACHE WRITE', entries, ({ cacheWrite }) => priceOrNone(cacheWrite)),
              ]
            : []),
          { title: 'FROM', text: ({ validFrom }) => format.minute(validFrom) },
          ...(entries.some(({ rules }) => rules) ? [{ title: 'RULES', text: rulesNames }] : []),
          { title: 'SOURCE', text: ({ source }) => source },
          { title: 'STATE', text: ({ state }) => state },
        ],
        'No prices yet. Set one: ./tollgate price set <model> --input 0.10 --output 0.40',
      )
    },
  )
}

const rulesNames = ({ rules }: PriceEntry): string => Object.keys(writtenRules(rules)).join(', ')

function toJson(entry: PriceEntry): object {
  const { model, source, state, validFrom } = entry
  return { model, ...writtenPrice(entry), valid_from: validFrom.toISOString(), source, state }
}

const priceOrNone = (price: bigint | null | undefined): string => (typeof price === 'bigint' ? formatPrice(price) : '')

function cacheLines({ cached_input: cached, cache_write: write }: WrittenPrice, format: Format): string[] {
  return [
    ...(cached === undefined
      ? []
      : [`Input read from a prompt cache costs ${format.money(cached)} per million tokens.`]),
    ...(write === undefined
      ? []
      : [`Input written to a prompt cache costs ${format.money(write)} per million tokens.`]),
  ]
}
