import { ActionIcon } from '@mantine/core'
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconBlockquote,
  IconBold,
  IconHeading,
  IconItalic,
  IconList,
  IconListNumbers,
  type Icon,
} from '@tabler/icons-react'
import type { Editor } from '@tiptap/core'
import { useEditorState } from '@tiptap/react'
import type { KeyboardEvent } from 'react'
import classes from './editor.module.css'
import { LinkButton } from './link-button.tsx'

interface Tool {
  readonly name: string
  readonly icon: Icon
  readonly keys?: string
  readonly run: (editor: Editor) => unknown
  readonly isOn?: (editor: Editor) => boolean
  readonly isOff?: (editor: Editor) => boolean
}

const on = (name: string, attributes?: object) => (editor: Editor) => editor.isActive(name, attributes)
const chain = (editor: Editor) => editor.chain().focus()

const format: readonly Tool[] = [
  { name: 'Bold', icon: IconBold, keys: 'Ctrl+B', run: (e) => chain(e).toggleBold().run(), isOn: on('bold') },
  { name: 'Italic', icon: IconItalic, keys: 'Ctrl+I', run: (e) => chain(e).toggleItalic().run(), isOn: on('italic') },
  {
    name: 'Heading',
    icon: IconHeading,
    keys: 'Ctrl+Alt+2',
    run: (e) => chain(e).toggleHeading({ level: 2 }).run(),
    isOn: on('heading'),
  },
  {
    name: 'Bulleted list',
    icon: IconList,
    keys: 'Ctrl+Shift+8',
    run: (e) => chain(e).toggleBulletList().run(),
    isOn: on('bulletList'),
  },
  {
    name: 'Numbered list',
    icon: IconListNumbers,
    keys: 'Ctrl+Shift+7',
    run: (e) => chain(e).toggleOrderedList().run(),
    isOn: on('orderedList'),
  },
  {
    name: 'Quote',
    icon: IconBlockquote,
    keys: 'Ctrl+Shift+B',
    run: (e) => chain(e).toggleBlockquote().run(),
    isOn: on('blockquote'),
  },
]

const steps: readonly Tool[] = [
  {
    name: 'Undo',
    icon: IconArrowBackUp,
    keys: 'Ctrl+Z',
    run: (e) => chain(e).undo().run(),
    isOff: (e) => !e.can().undo(),
  },
  {
    name: 'Redo',
    icon: IconArrowForwardUp,
    keys: 'Ctrl+Shift+Z',
    run: (e) => chain(e).redo().run(),
    isOff: (e) => !e.can().redo(),
  },
]

/** The formatting buttons. One stop for Tab; the arrow keys move between them. */
export function Toolbar({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  return (
    <div role="toolbar" tabIndex={-1} aria-label="Formatting" className={classes.toolbar} onKeyDown={moveFocus}>
      {format.map((tool, index) => (
        <ToolButton key={tool.name} {...{ tool, editor, disabled }} isFirst={index === 0} />
      ))}
      <LinkButton editor={editor} disabled={disabled} />
      <span className={classes.space} />
      {steps.map((tool) => (
        <ToolButton key={tool.name} {...{ tool, editor, disabled }} />
      ))}
    </div>
  )
}

interface ToolButtonProps {
  readonly tool: Tool
  readonly editor: Editor
  readonly disabled: boolean
  readonly isFirst?: boolean
}

function ToolButton({ tool, editor, disabled, isFirst = false }: ToolButtonProps) {
  const { name, icon: ToolIcon, keys, run, isOn, isOff } = tool
  const state = useEditorState({
    editor,
    selector: ({ editor: current }) => ({ on: isOn?.(current), off: isOff?.(current) ?? false }),
  })
  return (
    <ActionIcon
      aria-label={name}
      title={keys === undefined ? name : `${name} (${keys})`}
      {...(state.on !== undefined && { 'aria-pressed': state.on })}
      data-on={state.on || undefined}
      // It keeps the focus, so that the arrow keys still work.
      aria-disabled={disabled || state.off || undefined}
      tabIndex={isFirst ? 0 : -1}
      className={classes.tool}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => !disabled && !state.off && run(editor)}
    >
      <ToolIcon size={16} />
    </ActionIcon>
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (step === undefined) return
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('button')]
  const at = buttons.findIndex((button) => button === document.activeElement)
  event.preventDefault()
  buttons.at((at + step) % buttons.length)?.focus()
}
