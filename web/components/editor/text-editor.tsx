import { Textarea } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Markdown } from '../markdown/markdown.tsx'
import classes from './editor.module.css'
import { isFaithful } from './keep.ts'
import { RichEditor, type RichEditorProps } from './rich-editor.tsx'

/** Edits the text of a letter: formatted, unless that would lose something. */
export function TextEditor(props: RichEditorProps) {
  const [isRich] = useState(() => isFaithful(props.text))
  return isRich ? <RichEditor {...props} /> : <PlainEditor {...props} />
}

/** The Markdown itself, with what it means below. */
function PlainEditor({ label, text, readOnly, onChange, onReady }: RichEditorProps) {
  useEffect(() => onReady((markdown) => onChange(`${text}\n\n${markdown}\n`)), [text, onChange, onReady])
  return (
    <div className={classes.editor}>
      <p className={classes.hint}>
        This text has indented lines or is very long. It is edited as Markdown, so that the rest of it stays as it is.
      </p>
      <Textarea
        aria-label={label}
        value={text}
        readOnly={readOnly}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        autosize
        minRows={12}
        maxRows={30}
        variant="unstyled"
        className={classes.plain}
      />
      {text !== '' && (
        <section aria-label="Preview" className={classes.preview}>
          <Markdown text={text} />
        </section>
      )}
    </div>
  )
}
