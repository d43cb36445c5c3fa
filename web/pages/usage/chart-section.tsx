import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import type { UsagePageData } from '../../../src/usage/schema.ts'
import tables from '../../components/table.module.css'
import { Chart, figureText, nameOfModel, timeText } from './chart.tsx'
import { columnsOf, heightOf, measureNames, sumOfFigures, type Column, type Measure } from './series.ts'
import classes from './usage.module.css'

type ChartData = Pick<UsagePageData, 'from' | 'to' | 'rows' | 'currency'>

const measures = ['cost', 'requests', 'tokens'] as const

/** The figures over time, as a chart or as a table. */
export function ChartSection({ data }: { readonly data: ChartData }) {
  const [measure, setMeasure] = useState<Measure>('cost')
  const [isSplit, setSplit] = useState(false)
  const [isTable, setTable] = useState(false)
  const columns = columnsOf(data)
  const all = modelsOf(data.rows, measure)
  const models = isSplit ? all : undefined
  return (
    <section className={classes.section} aria-labelledby="over-time">
      <header className={classes.bar}>
        <h2 id="over-time">Over time</h2>
        <NativeSelect
          aria-label="Figure"
          data={measures.map((value) => ({ value, label: measureNames[value] }))}
          value={measure}
          onChange={({ currentTarget: { value } }) => setMeasure(measures.find((each) => each === value) ?? 'cost')}
        />
        <NativeSelect
          aria-label="Series"
          data={[
            { value: '', label: 'All models together' },
            { value: 'model', label: 'By model' },
          ]}
          value={isSplit ? 'model' : ''}
          onChange={({ currentTarget }) => setSplit(currentTarget.value !== '')}
        />
        <Button variant="default" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </Button>
      </header>
      {isTable ? (
        <ColumnTable {...{ columns, measure, models }} currency={data.currency} />
      ) : (
        <Chart {...{ columns, measure, models }} currency={data.currency} />
      )}
    </section>
  )
}

/** The models with the figure, that with the most first. */
function modelsOf(rows: UsagePageData['rows'], measure: Measure): string[] {
  const byModel = [...Map.groupBy(rows, ({ model }) => model ?? '')]
  const heights = byModel.map(([model, own]) => [model, heightOf(sumOfFigures(own), measure)] as const)
  return heights
    .filter(([, height]) => height > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([model]) => model)
}

interface ColumnTableProps {
  readonly columns: readonly Column[]
  readonly measure: Measure
  readonly models: readonly string[] | undefined
  readonly currency: string
}

/** The data of the chart, newest first. */
function ColumnTable({ columns, measure, models = [], currency }: ColumnTableProps) {
  return (
    <div className={tables.frame}>
      <table className={`${tables.table} ${classes.numbers}`}>
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">{measureNames[measure]}</th>
            {models.map((model) => (
              <th key={model} scope="col">
                {nameOfModel(model)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.toReversed().map(({ when, total, parts }) => (
            <tr key={when}>
              <th scope="row">{timeText(when)}</th>
              <td className={tables.strong}>{figureText(total, measure, currency)}</td>
              {models.map((model) => {
                const figures = parts.get(model)
                return <td key={model}>{figures && figureText(figures, measure, currency)}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
