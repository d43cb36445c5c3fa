import type { Letter } from '../../../src/clients/schema.ts'
import { Markdown } from '../../components/markdown/markdown.tsx'
import classes from './letter.module.css'

/** A letter that cannot be changed now. */
export function LetterPaper({ letter: { subject, body } }: { readonly letter: Letter }) {
  return (
    <article className={classes.paper}>
      <h2>{subject}</h2>
      <Markdown text={body} />
    </article>
  )
}
