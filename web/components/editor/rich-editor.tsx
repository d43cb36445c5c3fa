import type { Editor } from '@tiptap/core'
import { EditorContent, useEditor } from '@tiptap/react'
import { StarterKit } from '@tiptap/starter-kit'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { isSafeLink } from '../../../src/platform/text/markdown.ts'
import { documentOf } from './document.ts'
import classes from './editor.module.css'
import { createKeeper } from './keep.ts'
import { cleanHtml, sliceOf } from './paste.ts'
import { Toolbar } from './toolbar.tsx'

const extensions = [
  StarterKit.configure({
    // Markdown here has none of these.
    code: false,
    codeBlock: false,
    horizontalRule: false,
    strike: false,
    underline: false,
    trailingNode: false,
    link: {
      openOnClick: false,
      autolink: false,
      isAllowedUri: isSafeLink,
      HTMLAttributes: { rel: 'noopener noreferrer nofollow', target: '_blank' },
    },
  }),
]

/** ms without a change after which the text is made from the document: that takes long if there is much of it. */
const pause = 300

export interface RichEditorProps {
  readonly label: string
  readonly text: string
  readonly readOnly: boolean
  readonly onChange: (text: string) => void
  /** Called for each change, long before `onChange`, with a function that returns the text. */
  readonly onTyping: (read: () => string) => void
  /** Called with a function that inserts Markdown at the cursor. */
  readonly onReady: (insert: (markdown: string) => void) => void
}

/** Edits Markdown as formatted text. What was not edited stays as it was typed. */
export function RichEditor({ label, text, readOnly, onChange, onTyping, onReady }: RichEditorProps) {
  /** Knows the text that the document was made from. */
  const keeper = useRef(createKeeper(text))
  /** The text that the document last became. */
  const latest = useRef(text)
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [content] = useState(() => documentOf(text))
  const editor = useEditor({
    extensions,
    content,
    // The Content-Security-Policy has no place for its style element.
    injectCSS: false,
    editorProps: {
      attributes: { 'aria-label': label, 'aria-multiline': 'true', role: 'textbox', class: classes['text'] ?? '' },
      transformPastedHTML: cleanHtml,
      clipboardTextParser: (pasted, _context, _plain, view) => sliceOf(view.state.schema, documentOf(pasted)),
      // Ctrl+Enter saves the form.
      handleKeyDown: (_view, event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey),
    },
    onUpdate: ({ editor: changed }) => {
      clearTimeout(waiting.current)
      waiting.current = setTimeout(() => flushSync(() => finish(changed)), pause)
      onTyping(() => read(changed))
    },
    onBlur: ({ editor: changed }) => finish(changed),
  })
  /** Leaves `finish` to come: the text is also read to be kept while someone types. */
  function read(changed: Editor): string {
    if (waiting.current !== undefined) latest.current = keeper.current(changed.getJSON())
    return latest.current
  }
  function finish(changed: Editor) {
    if (waiting.current === undefined) return
    const typed = read(changed)
    clearTimeout(waiting.current)
    waiting.current = undefined
    onChange(typed)
  }
  useEffect(() => () => clearTimeout(waiting.current), [])
  useLayoutEffect(() => {
    if (text === latest.current) return
    clearTimeout(waiting.current)
    waiting.current = undefined
    keeper.current = createKeeper(text)
    latest.current = text
    editor.commands.setContent(documentOf(text), { emitUpdate: false })
  }, [editor, text])
  const hadFocus = useRef(false)
  useEffect(() => {
    // A read-only element loses the focus, and saving makes it read-only.
    if (readOnly) hadFocus.current = editor.isFocused
    editor.setEditable(!readOnly, false)
    // At once, so that a dialog that opens now returns the focus here.
    if (!readOnly && hadFocus.current && document.activeElement === document.body) editor.view.focus()
  }, [editor, readOnly])
  useEffect(() => onReady(inserting(editor)), [editor, onReady])
  return (
    <div className={classes.editor}>
      <Toolbar editor={editor} disabled={readOnly} />
      <EditorContent editor={editor} className={classes.paper} />
    </div>
  )
}

function inserting(editor: Editor) {
  return (markdown: string) => {
    const { content = [] } = documentOf(markdown)
    editor
      .chain()
      .focus()
      .insertContent([...content, { type: 'paragraph' }])
      .run()
  }
}
