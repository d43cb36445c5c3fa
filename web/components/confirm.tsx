import { Button, Group, Modal } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { layers } from './layers.ts'

export interface Question {
  readonly title: string
  readonly text: string
  /** What the person should know before, as sentences. */
  readonly notes?: readonly string[]
  /** The label of the confirm button; absent if it cannot be done. */
  readonly action?: string
}

let asked: (Question & { readonly answer: (sure: boolean) => void }) | undefined
const listeners = new Set<() => void>()

/** Asks for confirmation, with the focus on "Cancel". Resolves to whether the person confirmed. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    ask({
      ...question,
      answer: (sure) => {
        ask(undefined)
        resolve(sure)
      },
    })
  })
}

/** Asks whether to discard a form's changes. */
export function confirmDiscard(text = 'Your text is not saved and cannot be recovered.'): Promise<boolean> {
  return confirm({ title: 'Discard your changes?', text, action: 'Discard' })
}

function ask(question: typeof asked): void {
  asked = question
  for (const listener of listeners) listener()
}

function watch(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Renders the confirmation dialog; once per page. */
export function Questions() {
  const question = useSyncExternalStore(watch, () => asked)
  return (
    <Modal
      opened={question !== undefined}
      onClose={() => question?.answer(false)}
      title={question?.title}
      size="sm"
      zIndex={layers.question}
      withCloseButton={false}
    >
      <p>{question?.text}</p>
      {question?.notes !== undefined && question.notes.length > 0 && (
        <ul>
          {question.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" data-autofocus onClick={() => question?.answer(false)}>
          {question?.action === undefined ? 'Close' : 'Cancel'}
        </Button>
        {question?.action !== undefined && <Button onClick={() => question.answer(true)}>{question.action}</Button>}
      </Group>
    </Modal>
  )
}
