import { Link } from 'react-router'
import type { FirmFigures, OverviewData } from '../../../src/overview/schema.ts'
import { dateText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { counted, totalOf } from '../../words.ts'
import classes from './overview.module.css'

/** The day's figures, each a link to what it counts: pending work, and for partners overdue invoices and yesterday's cost. */
export function Tiles({ data }: { readonly data: OverviewData }) {
  const { open_disputes: disputes, letters_to_approve: drafts, letters_to_send: approved, currency, firm } = data
  const { amount, total } = disputes
  return (
    <dl className={classes.tiles}>
      <Tile name="Letters to approve" value={totalOf(drafts)} to="#letters-to-approve" />
      <Tile name="Letters to send" value={totalOf(approved)} to="#letters-to-send" />
      <Tile
        name="In dispute"
        value={amount === null ? totalOf(disputes) : moneyText(amount, currency)}
        about={amount === null ? 'disputes' : counted(total, 'open dispute')}
        to="#open-disputes"
      />
      {firm && <FirmTiles firm={firm} currency={currency} />}
    </dl>
  )
}

function FirmTiles({ firm, currency }: { readonly firm: FirmFigures; readonly currency: string }) {
  const { yesterday, overdue } = firm
  return (
    <>
      <Tile
        name="Overdue"
        value={moneyText(overdue.amount, currency)}
        about={
          overdue.oldest === null
            ? 'No invoice'
            : `${counted(overdue.invoices, 'invoice')}, ${overdue.invoices === 1 ? '' : 'the oldest '}due ${dateText(overdue.oldest)}`
        }
        to="/invoices?status=overdue"
      />
      <Tile
        name="Generation cost yesterday"
        value={moneyText(yesterday.cost, currency)}
        about={`${counted(yesterday.requests, 'request')} on ${dateText(yesterday.day)} (UTC)`}
        to={`/usage?from=${yesterday.day}&to=${yesterday.day}`}
      />
    </>
  )
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly about?: string
  /** A page, or a section of this one. */
  readonly to: string
}

function Tile({ name, value, about, to }: TileProps) {
  const link = { className: classes.link, 'aria-label': `${name}: ${value}` }
  return (
    <div className={classes.tile}>
      <dt>{name}</dt>
      <dd className={classes.value}>
        {to.startsWith('#') ? (
          <a href={to} {...link}>
            {value}
          </a>
        ) : (
          <Link to={to} {...link}>
            {value}
          </Link>
        )}
      </dd>
      {about !== undefined && <dd className={classes.about}>{about}</dd>}
    </div>
  )
}
