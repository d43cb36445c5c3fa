import type { UsageFigures, UsagePageData, UsageRow } from '../../../src/usage/schema.ts'
import { sumOfAmounts } from './exact.ts'

export const measureNames = { cost: 'Cost', requests: 'Requests', tokens: 'Tokens' } as const
export type Measure = keyof typeof measureNames

/** One column of the chart: a day, or a month of a long period. */
export interface Column {
  /** `2026-03-12` or `2026-03`. */
  readonly when: string
  readonly total: UsageFigures
  /** By series: the models, or `''` for everything. */
  readonly parts: ReadonlyMap<string, UsageFigures>
}

const mostDays = 100
const dayLength = 86_400_000
const none: UsageFigures = {
  requests: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: '0',
  refused: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
}

/** Every day of the period, or every month of a long one, with the models of that time. */
export function columnsOf({ from, to, rows }: Pick<UsagePageData, 'from' | 'to' | 'rows'>): Column[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / dayLength) + 1
  const length = count > mostDays ? 7 : 10
  const days = Array.from({ length: count }, (_, index) => dayAfter(from, index).slice(0, length))
  const byTime = Map.groupBy(rows, ({ day = '' }) => day.slice(0, length))
  return [...new Set(days)].map((when) => columnOf(when, byTime.get(when) ?? []))
}

function columnOf(when: string, rows: readonly UsageRow[]): Column {
  const byModel = Map.groupBy(rows, ({ model }) => model ?? '')
  return {
    when,
    total: sumOfFigures(rows),
    parts: new Map([...byModel].map(([model, own]) => [model, sumOfFigures(own)])),
  }
}

/** The exact sum of figures. */
export function sumOfFigures(all: readonly UsageFigures[]): UsageFigures {
  const sum = (pick: (each: UsageFigures) => number) => all.reduce((before, each) => before + pick(each), 0)
  return {
    requests: sum(({ requests }) => requests),
    input_tokens: sum((each) => each.input_tokens),
    output_tokens: sum((each) => each.output_tokens),
    cost: sumOfAmounts(all.map(({ cost }) => cost)),
    refused: sum(({ refused }) => refused),
    cached_tokens: sum((each) => each.cached_tokens),
    cache_write_tokens: sum((each) => each.cache_write_tokens),
  }
}

/** The height of a figure in the chart. Only for drawing: amounts lose digits. */
export function heightOf(figures: UsageFigures = none, measure: Measure): number {
  switch (measure) {
    case 'cost':
      return Number(figures.cost)
    case 'requests':
      return figures.requests
    case 'tokens':
      return figures.input_tokens + figures.output_tokens
  }
}

/** The values of the axis from the top down, of which the first is round and not below the highest column: `50`, `25`, `0`. */
export function axisOf(highest: number, measure: Measure): number[] {
  if (highest === 0) return [0]
  const unit = 10 ** Math.floor(Math.log10(highest))
  const top = unit * ([1, 2, 5].find((factor) => factor * unit >= highest) ?? 10)
  return [top, top / 2, 0].filter((value) => measure === 'cost' || Number.isInteger(value))
}

/** A value of the axis as a decimal number, without an exponent. */
export const decimalOf = (value: number): string => value.toFixed(12).replace(/\.?0+$/, '')

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayLength).toISOString().slice(0, 10)
