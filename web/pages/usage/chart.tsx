import { useState } from 'react'
import type { UsageFigures } from '../../../src/usage/schema.ts'
import { dateText, monthText, numberText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './usage.module.css'
import { axisOf, decimalOf, heightOf, measureNames, type Column, type Measure } from './series.ts'

export interface ChartProps {
  readonly columns: readonly Column[]
  readonly measure: Measure
  /** The models to stack, most expensive first; without them a single series is drawn. */
  readonly models: readonly string[] | undefined
  readonly currency: string
  /** Default: the name of the measure. */
  readonly label?: string
}

/** Series with a colour of their own; the others share the last one. */
const colours = 5
const area = { width: 1000, height: 220 }

/** `2026-03-12` → `12 Mar 2026`, `2026-03` → `March 2026`. */
export const timeText = (when: string): string => (when.length === 7 ? monthText : dateText)(when)

/** A figure as text. */
export function figureText(figures: UsageFigures, measure: Measure, currency: string): string {
  return measure === 'cost' ? moneyText(figures.cost, currency) : numberText(heightOf(figures, measure))
}

/** Columns over time, with the figures of one of them above. The pointer or the arrow keys choose the column. */
export function Chart({ columns, measure, models, currency, label }: ChartProps) {
  const [chosen, choose] = useState<number>()
  const highest = Math.max(...columns.map(({ total }) => heightOf(total, measure)), 0)
  const axis = axisOf(highest, measure)
  const top = axis[0] ?? 0
  const current = columns[chosen ?? columns.length - 1]
  const step = area.width / columns.length
  const gap = Math.min(step * 0.25, 12)

  return (
    <figure className={classes.chart}>
      {current && <Reading column={current} {...{ measure, models, currency }} />}
      <div className={classes.body}>
        <div className={classes.scale} aria-hidden>
          {axis.map((value) => (
            <span key={value} className={classes.tick} style={{ top: `${(placeOf(value, top) / area.height) * 100}%` }}>
              {measure === 'cost' ? moneyText(decimalOf(value), currency) : numberText(value)}
            </span>
          ))}
        </div>
        <div className={classes.plot} onPointerLeave={() => choose(undefined)}>
          <input
            type="range"
            aria-label={label ?? `${measureNames[measure]} over time`}
            min={0}
            max={columns.length - 1}
            value={chosen ?? columns.length - 1}
            aria-valuetext={current && `${timeText(current.when)}: ${figureText(current.total, measure, currency)}`}
            onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
          />
          <svg viewBox={`0 0 ${area.width} ${area.height}`} preserveAspectRatio="none" aria-hidden>
            {axis.map((value) => (
              <line key={value} x1={0} x2={area.width} y1={placeOf(value, top)} y2={placeOf(value, top)} />
            ))}
            {columns.map((column, index) => (
              <g key={column.when} data-chosen={index === chosen || undefined} onPointerEnter={() => choose(index)}>
                <rect className={classes.target} x={index * step} y={0} width={step} height={area.height} />
                {stackOf(column, measure, models, top).map(({ series, y, height }) => (
                  <rect
                    key={series}
                    data-series={series}
                    x={index * step + gap / 2}
                    y={y}
                    width={step - gap}
                    height={height}
                  />
                ))}
              </g>
            ))}
          </svg>
        </div>
        <div className={classes.axis} aria-hidden>
          <span>{columns[0] && timeText(columns[0].when)}</span>
          <span>{columns.at(-1) && columns.length > 1 && timeText(columns.at(-1)?.when ?? '')}</span>
        </div>
      </div>
      {models && <Legend models={models} />}
    </figure>
  )
}

/** How far from the top a value of the axis is. */
const placeOf = (value: number, top: number): number => (top === 0 ? 1 : 1 - value / top) * area.height

interface Bar {
  readonly series: number
  readonly y: number
  readonly height: number
}

/** The bars of a column, from the bottom up. */
function stackOf(column: Column, measure: Measure, models: readonly string[] | undefined, top: number): Bar[] {
  if (top === 0) return []
  const figures = models ? models.map((model) => column.parts.get(model)) : [column.total]
  const heights = figures.map((each) => (heightOf(each, measure) / top) * area.height)
  let above = area.height
  const bySeries = new Map<number, number>()
  heights.forEach((height, index) => {
    const series = Math.min(index, colours)
    bySeries.set(series, (bySeries.get(series) ?? 0) + height)
  })
  return [...bySeries]
    .filter(([, height]) => height > 0)
    .map(([series, height]) => ({ series, height, y: (above -= height) }))
}

/** The figures of the chosen column, in a fixed place: nothing covers the chart. */
function Reading({ column, measure, models, currency }: ReadingProps) {
  const parts = models?.filter((model) => heightOf(column.parts.get(model), measure) > 0) ?? []
  return (
    <figcaption className={classes.reading}>
      <strong>{timeText(column.when)}</strong>
      <span>{figureText(column.total, measure, currency)}</span>
      {parts.length > 1 &&
        parts.slice(0, colours).map((model) => {
          const figures = column.parts.get(model)
          return (
            <span key={model} className={classes.part}>
              {nameOfModel(model)} {figures && figureText(figures, measure, currency)}
            </span>
          )
        })}
    </figcaption>
  )
}

interface ReadingProps extends Omit<ChartProps, 'columns' | 'label'> {
  readonly column: Column
}

function Legend({ models }: { readonly models: readonly string[] }) {
  const named = models.slice(0, colours)
  return (
    <ul className={classes.legend}>
      {named.map((model, series) => (
        <li key={model}>
          <i data-series={series} />
          {nameOfModel(model)}
        </li>
      ))}
      {models.length > colours && (
        <li>
          <i data-series={colours} />
          Other models
        </li>
      )}
    </ul>
  )
}

/** Refused requests may name no model that exists. */
export const nameOfModel = (model: string): string => (model === '' ? 'No known model' : model)
