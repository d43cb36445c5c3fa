import { useState } from 'react'
import classes from './long-text.module.css'
import { Markdown } from './markdown/markdown.tsx'

/** Longer texts are collapsed to about eight lines, so that the button hides more than its own height. */
const long = { characters: 900, lines: 12 }

export interface LongTextProps {
  readonly text: string
  /** Never collapsed. */
  readonly whole?: boolean
  /** As a letter on paper. */
  readonly paper?: boolean
}

/** The text of a note, dispute or letter. */
export function LongText({ text, whole = false, paper = false }: LongTextProps) {
  const [opened, setOpened] = useState(false)
  const isLong = text.length > long.characters || text.split('\n').length > long.lines
  const isCut = isLong && !whole && !opened
  return (
    <div className={classes.frame} data-paper={paper || undefined}>
      <div className={classes.text} data-cut={isCut || undefined}>
        <Markdown text={text} />
      </div>
      {isLong && !whole && (
        <button type="button" className={classes.more} onClick={() => setOpened(!opened)} aria-expanded={opened}>
          {opened ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  )
}
