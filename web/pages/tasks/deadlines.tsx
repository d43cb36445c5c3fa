import { Badge } from '@mantine/core'
import { Link } from 'react-router'
import type { Dispute } from '../../../src/clients/schema.ts'
import { recordIcons } from '../../components/found.ts'
import { dateText } from '../../locale.ts'
import { useRecord } from '../record/use-record.ts'
import classes from './deadlines.module.css'
import { dayBadge } from './words.ts'

/** The open disputes that have to be answered by a day, the nearest first. Nothing if there is none. */
export function Deadlines() {
  const { id, disputes, consultant } = useRecord()
  const due = disputes.filter(isDue).toSorted((a, b) => (a.due < b.due ? -1 : 1))
  if (due.length === 0) return null
  const DisputeIcon = recordIcons.dispute
  return (
    <section className={classes.deadlines} aria-label="Disputes to answer">
      <ul>
        {due.map((dispute) => {
          const badge = dayBadge(dispute.due)
          return (
            <li key={dispute.id} className={classes.row}>
              <DisputeIcon size={16} stroke={1.6} aria-hidden />
              <Link to={`/clients/${id}/disputes/${dispute.id}`} className={classes.link}>
                {`Answer the dispute of ${dispute.invoice}`}
              </Link>
              <span className={classes.aside}>{`due ${dateText(dispute.due)} · ${consultant.name}`}</span>
              {badge && <Badge color={badge.color}>{badge.text}</Badge>}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const isDue = (dispute: Dispute): dispute is Dispute & { readonly due: string } =>
  dispute.status === 'open' && dispute.due !== null
