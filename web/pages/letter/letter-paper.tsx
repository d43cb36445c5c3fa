import { useEffect, useRef } from 'react'
import type { Letter } from '../../../src/clients/schema.ts'
import { Markdown } from '../../components/markdown/markdown.tsx'
import classes from './letter.module.css'

interface LetterPaperProps {
  readonly letter: Letter
  /** Takes the focus when it opens. */
  readonly isStart: boolean
}

/** A letter that cannot be changed now. */
export function LetterPaper({ letter: { subject, body }, isStart }: LetterPaperProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isStart) heading.current?.focus()
  }, [isStart])
  return (
    <article className={classes.paper}>
      <h2 ref={heading} tabIndex={-1}>
        {subject}
      </h2>
      <Markdown text={body} />
    </article>
  )
}
