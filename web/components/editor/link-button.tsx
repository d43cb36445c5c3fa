import { ActionIcon, Button, Group, Popover, TextInput } from '@mantine/core'
import { IconLink } from '@tabler/icons-react'
import type { Editor } from '@tiptap/core'
import { useEditorState } from '@tiptap/react'
import { useState, type KeyboardEvent } from 'react'
import { isSafeLink } from '../../../src/platform/text/markdown.ts'
import classes from './editor.module.css'

/** Makes the selected text a link, or changes or removes the link at the cursor. */
export function LinkButton({ editor, disabled }: { readonly editor: Editor; readonly disabled: boolean }) {
  const [opened, setOpened] = useState(false)
  const isOn = useEditorState({ editor, selector: ({ editor: current }) => current.isActive('link') })
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus returnFocus position="bottom-start" shadow="md" width={300}>
      <Popover.Target>
        <ActionIcon
          aria-label="Link"
          title="Link"
          aria-pressed={isOn}
          data-on={isOn || undefined}
          aria-disabled={disabled || undefined}
          tabIndex={-1}
          className={classes.tool}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => !disabled && setOpened(!opened)}
        >
          <IconLink size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <LinkForm editor={editor} isOn={isOn} onClose={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

interface LinkFormProps {
  readonly editor: Editor
  readonly isOn: boolean
  readonly onClose: () => void
}

/** Not a form element: it is inside the letter's form. */
function LinkForm({ editor, isOn, onClose }: LinkFormProps) {
  const [target, setTarget] = useState(String(editor.getAttributes('link')['href'] ?? ''))
  const [error, setError] = useState<string>()
  function set() {
    const href = completed(target.trim())
    if (!isSafeLink(href)) return setError('Enter the address of a web page or a mail address.')
    const link = { type: 'link', attrs: { href } }
    const chain = editor.chain().focus()
    if (editor.state.selection.empty && !isOn) chain.insertContent({ type: 'text', text: href, marks: [link] }).run()
    else chain.extendMarkRange('link').setLink({ href }).run()
    onClose()
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter') return
    event.preventDefault()
    event.stopPropagation()
    set()
  }
  return (
    <>
      <TextInput
        label="Address"
        placeholder="https://"
        value={target}
        error={error}
        data-autofocus
        onChange={({ currentTarget }) => setTarget(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Group gap="xs" mt="sm">
        <Button onClick={set}>Set link</Button>
        {isOn && (
          <Button
            variant="default"
            onClick={() => {
              editor.chain().focus().extendMarkRange('link').unsetLink().run()
              onClose()
            }}
          >
            Remove link
          </Button>
        )}
      </Group>
    </>
  )
}

/** `example.com` → `https://example.com`. */
function completed(target: string): string {
  if (/^[^\s@/:]+@[^\s@/:]+$/.test(target)) return `mailto:${target}`
  return /^[^\s:/]+\.[^\s:/]{2,}(?:\/\S*)?$/.test(target) ? `https://${target}` : target
}
