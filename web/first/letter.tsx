import { IconArrowLeft } from '@tabler/icons-react'
import type { Letter } from '../../src/clients/schema.ts'
import editor from '../components/editor/editor.module.css'
import { Markdown } from '../components/markdown/markdown.tsx'
import { Page } from '../components/page.tsx'
import letters from '../pages/letter/letter.module.css'
import { LetterPaper } from '../pages/letter/letter-paper.tsx'
import workspace from '../pages/letter/workspace.module.css'
import { Crumbs } from '../pages/record/heading.tsx'
import record from '../pages/record/record.module.css'
import classes from './first.module.css'
import { content } from './stand-ins/content.ts'

/** A letter, which does not come with the name of its client. */
export function FirstLetter({ letter }: { readonly letter: Letter }) {
  return (
    <Page title={letter.subject} heading={<Heading />}>
      <div className={workspace.workspace}>
        <div className={workspace.bar}>
          <a href={content.address.replace(/\/[^/]+$/, '')} className={workspace.back}>
            <IconArrowLeft size={15} aria-hidden />
            All letters
          </a>
        </div>
        <section className={workspace.letter} aria-label="Letter">
          <div className={letters.bar}>
            <span className={classes.box} />
          </div>
          {letter.status === 'draft' ? <Form letter={letter} /> : <LetterPaper letter={letter} isStart={false} />}
        </section>
      </div>
    </Page>
  )
}

function Heading() {
  return (
    <div className={record.heading}>
      <Crumbs />
    </div>
  )
}

/** As in the form of the letter, which cannot be edited yet. */
function Form({ letter: { subject, body } }: { readonly letter: Letter }) {
  return (
    <div className={letters.form}>
      <div>
        <h2 className={classes.label}>Subject</h2>
        <p className={`${classes.box} ${classes.field}`}>{subject}</p>
      </div>
      <div className={editor.editor}>
        <div className={`${editor.toolbar} ${classes.toolbar}`} />
        <div className={editor.text}>
          <Markdown text={body} />
        </div>
      </div>
    </div>
  )
}
