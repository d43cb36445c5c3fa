import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { OverviewData } from '../../../src/overview/schema.ts'
import { dateText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { counted, totalOf } from '../../words.ts'
import classes from './overview.module.css'

/** The day's figures: pending work, and for partners yesterday's cost. */
export function Tiles({ data }: { readonly data: OverviewData }) {
  const { open_disputes: disputes, letters_to_approve: drafts, letters_to_send: approved, currency, firm } = data
  const { amount, total } = disputes
  return (
    <dl className={classes.tiles}>
      <Tile name="Letters to approve" value={totalOf(drafts)} />
      <Tile name="Letters to send" value={totalOf(approved)} />
      <Tile
        name="In dispute"
        value={amount === null ? totalOf(disputes) : moneyText(amount, currency)}
        about={amount === null ? 'disputes' : counted(total, 'open dispute')}
      />
      {firm && (
        <Tile
          name="Generation cost yesterday"
          value={moneyText(firm.yesterday.cost, currency)}
          about={
            <Link to={`/usage?from=${firm.yesterday.day}&to=${firm.yesterday.day}`}>
              {`${counted(firm.yesterday.requests, 'request')} on ${dateText(firm.yesterday.day)} (UTC)`}
            </Link>
          }
        />
      )}
    </dl>
  )
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly about?: ReactNode
}

function Tile({ name, value, about }: TileProps) {
  return (
    <div className={classes.tile}>
      <dt>{name}</dt>
      <dd className={classes.value}>{value}</dd>
      {about !== undefined && <dd className={classes.about}>{about}</dd>}
    </div>
  )
}
