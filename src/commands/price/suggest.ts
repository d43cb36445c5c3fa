import type { Command } from 'commander'
import type { PriceList } from '../../billing/price-lists/price-list.ts'
import type { Suggestion, Suggestions, VendorModel } from '../../billing/price-lists/suggestions.ts'
import { formatPrice, writtenPrice, writtenRules } from '../../billing/prices/money.ts'
import { priceOf } from '../../billing/prices/price-rule.ts'
import type { Price, Prices } from '../../billing/prices/prices.ts'
import { OperatorError } from '../../platform/problems.ts'
import { parseExactDecimal, type ExactDecimal } from '../../platform/text/exact-decimal.ts'
import { argument, command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { faultText, readInputFile } from '../input-file.ts'
import { operator, recordView } from '../operator.ts'
import { canAsk, confirm } from '../output/confirm.ts'
import { formatFor } from '../output/format.ts'
import { warn, writeJson, writeLines, writeTable } from '../output/output.ts'
import { beginningIn, parseTimeOption, type InstantOrDay } from '../output/times.ts'
import { priceBefore, withPrices, writeFirst } from './context.ts'

interface SuggestOptions extends CommonOptions {
  readonly model?: readonly string[]
  readonly name?: ReadonlyMap<string, string>
  readonly rate?: ExactDecimal
  readonly from?: InstantOrDay
  readonly yes?: true
}

/** The outcome of the command. */
interface Outcome {
  readonly list: PriceList
  readonly found: Suggestions
  /** When each change begins; undefined if nothing was set. */
  readonly begins: readonly Date[] | undefined
}

export function suggestCommand(context: Context): Command {
  const name = argument(parseName)
  return command(
    'suggest',
    "Compare a vendor's price list with the prices in force, and set the prices that differ once you confirm",
    'price suggest model_prices_and_context_window.json',
  )
    .argument(
      '<file>',
      "the list: LiteLLM's or OpenRouter's JSON, or CSV with model,input,output,cached_input,cache_write",
    )
    .option('--model <id>', 'only this model; may be repeated', (id, before: readonly string[] | undefined) => [
      ...(before ?? []),
      id,
    ])
    .option(
      '--name <model=name>',
      'the name of a model on the list, if the upstream uses another; may be repeated',
      (text, before: ReadonlyMap<string, string> | undefined) => new Map([...(before ?? []), name(text)]),
    )
    .option('--rate <rate>', "what a unit of the list's currency costs in yours, such as 0.92", argument(parseRate))
    .option(
      '--from <when>',
      'when the prices begin: a date, a time or a duration (default: now)',
      argument(parseTimeOption),
    )
    .option('--yes', 'set the prices without asking')
    .action(async (file: string, { json, from, yes, ...options }: SuggestOptions, self: Command) => {
      const models = await chosenModels(context, options, self)
      const list = await readList(context, file, self, json)
      requireCurrency(list, (await context.config()).currency, options.rate)
      await recordView(context, { action: 'models_listed', noun: 'model' })
      const begin = from && (await beginningIn(context, from))
      await withPrices(context, async (prices) => {
        const found = await compare(list, models, prices, { ...options, begin })
        if (found.faults.length > 0) {
          const lines = found.faults.map(({ model, reason }) => `${model}: ${reason}`)
          if (json) writeJson(context, { faults: found.faults })
          self.error(['error: the list has prices that cannot be read:', ...lines].join('\n'))
        }
        if (!json) await writeComparison(context, found)
        const confirmed = found.changes.length > 0 && (yes ?? (!json && (await asks(context, found))))
        const begins = confirmed ? await setPrices(prices, models, found.changes, begin) : undefined
        if (json) writeJson(context, toJson({ list, found, begins }))
        else await writeOutcome(context, { list, found, begins })
      })
    })
}

/** Splits `model=name`. Throws a RangeError. */
function parseName(text: string): readonly [string, string] {
  const [, model, listed] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (model === undefined || listed === undefined) throw new RangeError('must be a model and its name: far=gpt-4o')
  return [model, listed]
}

/** Throws a RangeError. */
function parseRate(text: string): ExactDecimal {
  const rate = parseExactDecimal(text)
  if (rate.digits <= 0n) throw new RangeError('must be above zero')
  return rate
}

async function chosenModels(
  context: Context,
  { model: chosen = [], name = new Map() }: SuggestOptions,
  self: Command,
): Promise<VendorModel[]> {
  const { models } = await context.config()
  const upstream = models.flatMap((each) => (each.engine === 'local' ? [] : [each]))
  const unknown = [...chosen, ...name.keys()].find((id) => !upstream.some((each) => each.id === id))
  if (unknown !== undefined) self.error(`error: the configuration has no upstream model ${unknown}`)
  if (upstream.length === 0) throw new OperatorError('The configuration has no model of an upstream.')
  return chosen.length === 0 ? upstream : upstream.filter(({ id }) => chosen.includes(id))
}

async function readList(context: Context, file: string, self: Command, json: true | undefined): Promise<PriceList> {
  const { readPriceList } = await import('../../billing/price-lists/price-list.ts')
  const list = readPriceList(await readInputFile(file))
  if (!('format' in list)) {
    if (json) writeJson(context, { faults: list })
    return self.error(faultText('error: the price list cannot be read:', list))
  }
  return list
}

/** Amounts are never converted at a rate that nobody stated. */
function requireCurrency({ currency: listed }: PriceList, currency: string, rate: ExactDecimal | undefined): void {
  if (listed !== null && listed !== currency && rate === undefined) {
    throw new OperatorError(
      `The list has prices in ${listed}, and the configuration has ${currency}: give --rate, the price of 1 ${listed} in ${currency}.`,
    )
  }
  if (listed === currency && rate !== undefined) {
    throw new OperatorError(`The list and the configuration both have ${currency}: omit --rate.`)
  }
}

async function compare(
  list: PriceList,
  models: readonly VendorModel[],
  prices: Prices,
  { rate, name, begin }: SuggestOptions & { readonly begin: Date | undefined },
): Promise<Suggestions> {
  const { suggestPrices } = await import('../../billing/price-lists/suggestions.ts')
  const entries = await prices.list()
  const replaced = new Map<string, Price>()
  for (const { id, price } of models) {
    const before = priceBefore(entries, id, begin) ?? (price && priceOf(price))
    if (before !== undefined) replaced.set(id, before)
  }
  return suggestPrices(list, { models, prices: replaced, rate, ...(name && { names: name }) })
}

async function asks(context: Context, { changes }: Suggestions): Promise<boolean> {
  if (!canAsk(context)) return false
  const what = changes.length === 1 ? 'this price' : `these ${changes.length} prices`
  return confirm(context, `Set ${what}?`)
}

async function setPrices(
  prices: Prices,
  models: readonly VendorModel[],
  changes: readonly Suggestion[],
  from: Date | undefined,
): Promise<Date[]> {
  for (const { id, price } of models) {
    if (changes.some(({ model }) => model === id)) await writeFirst(prices, id, price)
  }
  return prices.setAll(changes, operator(), from)
}

/** A part of a price that differs. '' stands for none. */
interface PartChange {
  readonly model: string
  readonly part: string
  readonly now: string
  readonly listed: string
}

function changedParts({ model, kind, now, price }: Suggestion): PartChange[] {
  const parts = [
    ['input', now?.input, price.input],
    ['output', kind === 'text' ? now?.output : null, kind === 'text' ? price.output : null],
    ['cached input', now?.cachedInput, price.cachedInput],
    ['cache write', now?.cacheWrite, price.cacheWrite],
  ] as const
  const ofTokens = parts.map(([part, before, after]) => ({ model, part, now: written(before), listed: written(after) }))
  const [before, after] = [ruleTexts(now), ruleTexts(price)]
  const ofRules = [...new Set([...before.keys(), ...after.keys()])].map((part) => ({
    model,
    part,
    now: before.get(part) ?? '',
    listed: after.get(part) ?? '',
  }))
  return [...ofTokens, ...ofRules].filter((each) => each.now !== each.listed)
}

/** The amounts and factors in the rules of a price, by the place of each. */
function ruleTexts(price: Price | undefined): Map<string, string> {
  const {
    cache_write_1h: hour,
    steps = [],
    service_tiers: tiers = {},
    regions = {},
    image,
    tools = {},
  } = writtenRules(price?.rules)
  const texts = new Map<string, string>()
  const add = (before: string, amounts: object) => {
    for (const [part, amount] of Object.entries(amounts)) {
      if (typeof amount === 'string' && part !== 'above') texts.set(`${before}${part.replaceAll('_', ' ')}`, amount)
    }
  }
  const addSteps = (before: string, all: typeof steps) => {
    for (const step of all) add(`${before}above ${step.above}: `, step)
  }
  add('', { ...(hour !== undefined && { cache_write_1h: hour }) })
  addSteps('', steps)
  for (const [tier, prices] of Object.entries(tiers)) {
    add(`tier ${tier}: `, prices)
    if ('steps' in prices) addSteps(`tier ${tier}, `, prices.steps ?? [])
  }
  add('region ', regions)
  add('', { ...(image !== undefined && { each_image: image }) })
  add('each ', tools)
  return texts
}

const written = (amount: bigint | null | undefined): string => (typeof amount === 'bigint' ? formatPrice(amount) : '')

async function writeComparison(context: Context, { changes, same, leftOut }: Suggestions): Promise<void> {
  const format = await formatFor(context)
  const rows = changes.flatMap(changedParts)
  writeTable(
    context,
    rows,
    [
      { title: 'MODEL', text: ({ model }) => model },
      { title: 'PER MILLION', text: ({ part }) => part },
      format.amountColumn('NOW', rows, ({ now }) => now),
      format.amountColumn('LIST', rows, ({ listed }) => listed),
    ],
    'No price differs.',
  )
  const unpriced = [...changes, ...same].filter((each) => each.unpriced.length > 0)
  writeLines(
    context,
    ...(same.length === 0 ? [] : ['', `As on the list: ${same.map(({ model }) => model).join(', ')}.`]),
    ...(leftOut.length === 0 ? [] : ['', 'Left out:', ...leftOut.map(({ model, reason }) => `  ${model}: ${reason}`)]),
    ...(unpriced.length === 0
      ? []
      : [
          '',
          'The list also charges for this, for which Tollgate has no price:',
          ...unpriced.flatMap((each) => each.unpriced.map(({ field, value }) => `  ${each.model}: ${field} ${value}`)),
        ]),
  )
}

async function writeOutcome(context: Context, { found, begins }: Outcome): Promise<void> {
  const { changes } = found
  if (changes.length === 0) return
  if (begins === undefined) return warn(context, 'Nothing was set. Confirm with --yes.')
  const { minute } = await formatFor(context)
  const lines = changes.map(({ model }, index) => `  ${model} from ${minute(begins[index] ?? null)}`)
  return writeLines(context, '', 'Set:', ...lines)
}

function toJson({ list, found, begins }: Outcome): object {
  return {
    format: list.format,
    changes: found.changes.map((each, index) => ({
      ...compared(each),
      valid_from: begins?.[index]?.toISOString() ?? null,
    })),
    unchanged: found.same.map(compared),
    left_out: found.leftOut,
    set: begins !== undefined,
  }
}

const compared = ({ model, listed, price, now, unpriced }: Suggestion) => ({
  model,
  listed_as: listed,
  price: writtenPrice(price),
  in_force: now === undefined ? null : writtenPrice(now),
  unpriced,
})
