import type { UsagePageData } from '../../../src/usage/schema.ts'
import { growthText, numberText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './usage.module.css'

/** The figures of the period, each beside that of the days before. */
export function Tiles({ total, previous, currency }: Pick<UsagePageData, 'total' | 'previous' | 'currency'>) {
  return (
    <dl className={classes.tiles}>
      <Tile
        name="Cost"
        value={moneyText(total.cost, currency)}
        now={Number(total.cost)}
        before={Number(previous.cost)}
        was={moneyText(previous.cost, currency)}
      />
      <Count name="Requests" now={total.requests} before={previous.requests} />
      <Count name="Input tokens" now={total.input_tokens} before={previous.input_tokens} />
      <Count name="Output tokens" now={total.output_tokens} before={previous.output_tokens} />
      <Count name="Refused" now={total.refused} before={previous.refused} />
    </dl>
  )
}

function Count({ name, now, before }: { readonly name: string; readonly now: number; readonly before: number }) {
  return <Tile name={name} value={numberText(now)} now={now} before={before} was={numberText(before)} />
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly now: number
  readonly before: number
  readonly was: string
}

function Tile({ name, value, now, before, was }: TileProps) {
  return (
    <div className={classes.tile}>
      <dt>{name}</dt>
      <dd className={classes.value}>{value}</dd>
      <dd className={classes.was}>
        {before === 0 ? 'None in the days before' : `${growthText(now / before - 1)} from ${was}`}
      </dd>
    </div>
  )
}
