import { Badge } from '@mantine/core'
import { LongText } from '../../components/long-text.tsx'
import { Ago } from '../../components/time.tsx'
import { moneyText } from '../../money.ts'
import { counted, modelText } from '../../words.ts'
import cards from './card.module.css'
import { SourceLink } from './check.tsx'
import classes from './drafts.module.css'
import type { Draft } from './wire.ts'

const states = {
  running: { text: 'Being written', color: 'harbour' },
  complete: { text: 'Complete', color: 'teal' },
  stopped: { text: 'Stopped', color: 'gray' },
  failed: { text: 'Failed', color: 'red' },
} as const

/** What was asked of a model for this letter, from which sources, and what it cost. */
export function Drafts({ drafts }: { readonly drafts: readonly Draft[] }) {
  return (
    <ol className={cards.list}>
      {drafts.map((draft) => (
        <li key={draft.id} className={cards.card}>
          <DraftEntry draft={draft} />
        </li>
      ))}
    </ol>
  )
}

function DraftEntry({ draft }: { readonly draft: Draft }) {
  const { status, instructions, sources, created_by: by, created_at: at } = draft
  return (
    <article>
      <header className={cards.head}>
        <h3>
          <Ago time={at} />
        </h3>
        <Badge color={states[status].color}>{states[status].text}</Badge>
      </header>
      <p className={classes.figures}>{figuresOf(draft)}</p>
      {by && (
        <p className={classes.figures}>
          Asked by <bdi>{by.name}</bdi>
        </p>
      )}
      <LongText text={instructions} />
      {sources.length > 0 && (
        <ul className={classes.sources}>
          {sources.map((source) => (
            <li key={source.id}>
              <SourceLink source={source} /> (version {source.version})
            </li>
          ))}
        </ul>
      )}
    </article>
  )
}

function figuresOf({ model, input_tokens: read, output_tokens: written, cost, currency }: Draft): string {
  const by = `Written by ${modelText(model)}`
  if (cost === null) return by
  return [
    by,
    counted(read ?? 0, 'token') + ' read',
    counted(written ?? 0, 'token') + ' written',
    moneyText(cost, currency),
  ].join(' · ')
}
