import { useId, type ReactNode } from 'react'
import classes from './overview.module.css'

interface SectionProps {
  readonly title: string
  /** Beside the title, such as a total. */
  readonly aside?: ReactNode
  /** Shown in place of the content, if there is none. */
  readonly none: string
  readonly isEmpty: boolean
  readonly children: ReactNode
}

/** A part of the overview, with a sentence in place of an empty list. */
export function Section({ title, aside, none, isEmpty, children }: SectionProps) {
  const id = useId()
  return (
    <section id={title.toLowerCase().replaceAll(' ', '-')} className={classes.section} aria-labelledby={id}>
      <header className={classes.bar}>
        <h2 id={id}>{title}</h2>
        {!isEmpty && aside !== undefined && <span className={classes.aside}>{aside}</span>}
      </header>
      {isEmpty ? <p className={classes.none}>{none}</p> : children}
    </section>
  )
}
