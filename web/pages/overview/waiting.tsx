import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { OpenDisputes, ReviewedLetters, WaitingLetters } from '../../../src/overview/schema.ts'
import { recordIcons } from '../../components/found.ts'
import { Ago } from '../../components/time.tsx'
import { dateText, dayText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { totalOf } from '../../words.ts'
import classes from './overview.module.css'
import { Section } from './section.tsx'
import { Shortened } from './shortened.tsx'

/** The drafts that the person was asked to review, and those that were returned to them. Neither is there without one. */
export function Reviews({
  toReview,
  returned,
}: {
  readonly toReview: ReviewedLetters
  readonly returned: ReviewedLetters
}) {
  return (
    <>
      <Reviewed
        title="Waiting for your review"
        letters={toReview}
        about={({ client, asked_by: by }) => named(client.name, by?.name)}
      />
      <Reviewed
        title="Returned to you"
        letters={returned}
        about={({ client, reviewer }) => named(client.name, reviewer.name)}
      />
    </>
  )
}

const named = (...names: readonly (string | undefined)[]): string => names.filter(Boolean).join(' · ')

interface ReviewedProps {
  readonly title: string
  readonly letters: ReviewedLetters
  readonly about: (letter: ReviewedLetters['items'][number]) => string
}

function Reviewed({ title, letters, about }: ReviewedProps) {
  if (letters.total === 0) return null
  return (
    <Section title={title} aside={totalOf(letters)} isEmpty={false} none="">
      <Shortened of={letters} atFirst={5}>
        {(letter) => (
          <Row
            key={letter.id}
            noun="letter"
            to={`/clients/${letter.client.id}/letters/${letter.id}`}
            title={letter.subject}
            about={about(letter)}
            end={<Ago time={letter.at} />}
          />
        )}
      </Shortened>
    </Section>
  )
}

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
            about={named(client.name, by?.name)}
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
