import { Badge, Button, TextInput } from '@mantine/core'
import { IconQuote, IconSearch } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import type { Dispute, Note } from '../../../src/clients/schema.ts'
import { bestMatches } from '../../../src/platform/text/spelling.ts'
import { InParts } from '../../components/in-parts.tsx'
import { LongText } from '../../components/long-text.tsx'
import { summaryOf } from '../record/summary.tsx'
import { useRecord } from '../record/use-record.ts'
import cards from './card.module.css'
import classes from './sources.module.css'

interface SourcesProps {
  /** Inserts a text as a quote into the letter; absent while the letter cannot be changed. */
  readonly onQuote?: ((text: string) => void) | undefined
}

/** The client's notes and disputes, to read beside the letter. */
export function Sources({ onQuote }: SourcesProps) {
  const { notes, disputes } = useRecord()
  const [wanted, setWanted] = useState('')
  const found = bestMatches([...disputes, ...notes], wanted, textsOf)
  if (notes.length + disputes.length === 0) return <p className={classes.none}>This client has no notes or disputes.</p>
  return (
    <div className={classes.sources}>
      <TextInput
        type="search"
        aria-label="Search notes and disputes"
        placeholder="Search notes and disputes"
        leftSection={<IconSearch size={15} aria-hidden />}
        value={wanted}
        onChange={({ currentTarget }) => setWanted(currentTarget.value)}
      />
      {found.length === 0 && <p className={classes.none}>Nothing found.</p>}
      <InParts all={found}>
        {(shown) => (
          <ul className={cards.list}>
            {shown.map((item) => (
              <li key={item.id} className={cards.card}>
                <Source item={item} />
                {onQuote && summaryOf(item).text !== '' && (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    className={classes.quote}
                    leftSection={<IconQuote size={13} aria-hidden />}
                    onClick={() => onQuote(summaryOf(item).text)}
                  >
                    Insert as quote
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </InParts>
    </div>
  )
}

function Source({ item }: { readonly item: Note | Dispute }): ReactNode {
  const { title, aside, badge, text } = summaryOf(item)
  return (
    <article>
      <header className={cards.head}>
        <h3 className={classes.title}>{title}</h3>
        {badge && <Badge color={badge.color}>{badge.text}</Badge>}
      </header>
      {aside !== '' && <p className={classes.aside}>{aside}</p>}
      {text !== '' && <LongText text={text} />}
    </article>
  )
}

/** All fields. */
function textsOf(item: Note | Dispute): readonly string[] {
  return 'participants' in item
    ? [item.date, ...item.participants, item.text]
    : [item.invoice, item.amount, item.status, item.position]
}
