import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { numberText } from '../../locale.ts'
import { totalOf } from '../../words.ts'
import classes from './overview.module.css'

interface ShortenedProps<Item> {
  readonly of: { readonly items: readonly Item[]; readonly total: number; readonly total_is_exact: boolean }
  /** How many rows are shown at first. */
  readonly atFirst: number
  readonly children: (item: Item) => ReactNode
}

/** The first rows of a list, and the others on request. */
export function Shortened<Item>({ of: { items, ...count }, atFirst, children }: ShortenedProps<Item>) {
  const [isWhole, setIsWhole] = useState(false)
  const isPart = items.length < count.total
  const shown = isWhole ? items : items.slice(0, atFirst)
  return (
    <>
      <ul>{shown.map((item) => children(item))}</ul>
      {items.length > atFirst && (
        <Button
          className={classes.turn}
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={isWhole}
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? 'Show fewer' : `Show ${isPart ? 'the first' : 'all'} ${numberText(items.length)}`}
        </Button>
      )}
      {isWhole && isPart && (
        <p className={classes.more}>
          The first {numberText(items.length)} of {totalOf(count)}. The others are in the records of their clients.
        </p>
      )}
    </>
  )
}
