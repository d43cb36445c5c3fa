import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { OpenDisputes, WaitingLetters } from '../../../src/overview/schema.ts'
import { recordIcons } from '../../components/found.ts'
import { Ago } from '../../components/time.tsx'
import { dateText, dayText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { totalOf } from '../../words.ts'
import classes from './overview.module.css'
import { Section } from './section.tsx'
import { Shortened } from './shortened.tsx'

/** The drafts of letters, which someone has to approve. */
export function LettersToApprove({ letters }: { readonly letters: WaitingLetters }) {
  return <Letters title="Letters to approve" none="No letter is waiting for approval." letters={letters} />
}

/** The approved letters that are not sent yet. */
export function LettersToSend({ letters }: { readonly letters: WaitingLetters }) {
  return <Letters title="Letters to send" none="No approved letter is waiting to be sent." letters={letters} />
}

interface LettersProps {
  readonly title: string
  readonly none: string
  readonly letters: WaitingLetters
}

function Letters({ title, none, letters }: LettersProps) {
  return (
    <Section title={title} aside={totalOf(letters)} isEmpty={letters.total === 0} none={none}>
      <Shortened of={letters} atFirst={5}>
        {({ id, subject, client, updated_at: changed, updated_by: by }) => (
          <Row
            key={id}
            noun="letter"
            to={`/clients/${client.id}/letters/${id}`}
            title={subject}
            about={[client.name, by?.name].filter(Boolean).join(' · ')}
            end={<Ago time={changed} />}
          />
        )}
      </Shortened>
    </Section>
  )
}

interface DisputesProps {
  readonly disputes: OpenDisputes
  readonly currency: string
}

/** The open disputes, oldest first, with the sum of their amounts. */
export function Disputes({ disputes, currency }: DisputesProps) {
  const { amount } = disputes
  return (
    <Section
      title="Open disputes"
      aside={amount === null ? totalOf(disputes) : `${totalOf(disputes)} · ${moneyText(amount, currency)}`}
      isEmpty={disputes.total === 0}
      none="No invoice is in dispute."
    >
      <Shortened of={disputes} atFirst={5}>
        {({ id, invoice, client, amount: disputed, due, created_at: since }) => (
          <Row
            key={id}
            noun="dispute"
            to={`/clients/${client.id}/disputes/${id}`}
            title={invoice}
            about={
              <>
                {client.name}
                <span className={classes.days}>
                  since {dayText(new Date(since))}
                  {due !== null && ` · deadline ${dateText(due)}`}
                </span>
              </>
            }
            end={<strong>{moneyText(disputed, currency)}</strong>}
          />
        )}
      </Shortened>
    </Section>
  )
}

interface RowProps {
  readonly noun: 'dispute' | 'letter'
  readonly to: string
  readonly title: string
  readonly about: ReactNode
  readonly end: ReactNode
}

function Row({ noun, to, title, about, end }: RowProps) {
  const RowIcon = recordIcons[noun]
  return (
    <li className={classes.row}>
      <RowIcon size={16} stroke={1.6} aria-hidden />
      <div className={classes.text}>
        <Link to={to} data-row className={classes.link}>
          {title}
        </Link>
        <p>{about}</p>
      </div>
      <span className={classes.end}>{end}</span>
    </li>
  )
}
