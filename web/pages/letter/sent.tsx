import { Badge } from '@mantine/core'
import type { LetterMail } from '../../../src/clients/letters/mail/schema.ts'
import { saveLinked } from '../../components/save-linked.ts'
import { Ago } from '../../components/time.tsx'
import { mailStateNames } from '../../words.ts'
import classes from './sent.module.css'

const colors = { waiting: 'gray', queued: 'gray', sent: 'teal', given_up: 'red', withdrawn: 'gray' } as const

interface SentProps {
  /** The URL of the letter. */
  readonly address: string
  readonly mails: readonly LetterMail[]
}

/** The mails with a letter, the latest first. */
export function Sent({ address, mails }: SentProps) {
  if (mails.length === 0) return <p className={classes.none}>It has not been sent by mail.</p>
  return (
    <ol className={classes.mails}>
      {mails.toReversed().map((mail) => (
        <li key={mail.id} className={classes.mail}>
          <p className={classes.head}>
            <strong>
              <bdi>{mail.name}</bdi>
            </strong>
            <Badge color={colors[mail.state]}>{mailStateNames[mail.state]}</Badge>
          </p>
          <p className={classes.address}>{mail.to}</p>
          <details>
            <summary>{mail.subject}</summary>
            <p className={classes.message}>{mail.message}</p>
          </details>
          <p className={classes.small}>
            {mail.by && (
              <>
                by <bdi>{mail.by.name}</bdi>,{' '}
              </>
            )}
            <Ago time={mail.at} />
            {' · '}
            <a
              href={`${address}/mails/${mail.id}/pdf`}
              download
              aria-label={`PDF as sent to ${mail.name}`}
              onClick={(event) => void saveLinked(event)}
            >
              PDF as sent
            </a>
          </p>
        </li>
      ))}
    </ol>
  )
}
