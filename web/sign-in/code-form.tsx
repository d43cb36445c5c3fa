/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction } from './action.ts'
import { CodeField } from './fields.tsx'
import { Form } from './form.tsx'

interface CodeFormProps {
  readonly label: string
  readonly hint?: string
  /** How many characters are shown together. */
  readonly group: number
  readonly kind: 'digits' | 'letters'
  /** Whether it arrives by mail or message, or changes with time. Default true. */
  readonly isOneTime?: boolean
  /** Gets the focus when the step appears. Default true. */
  readonly isFirst?: boolean
  /** The label of the button. */
  readonly submit: string
  readonly onCode: (code: string) => Promise<void>
}

/** A form that asks for a code. A wrong one stays in the field, to be corrected. */
export function CodeForm({ submit, onCode, isFirst = true, ...field }: CodeFormProps) {
  const [code, setCode] = useState('')
  const action = useAction()
  return (
    <Form action={action} submit={submit} onSubmit={() => onCode(code)}>
      <CodeField
        {...field}
        name="code"
        value={code}
        onValue={setCode}
        refusal={action.refusal}
        isFirst={isFirst}
        isRetried
      />
    </Form>
  )
}

/** The code of a text message to `number`. */
export const messageCode = (number: string) =>
  ({
    label: 'Code from the message',
    hint: `Six digits, sent to ${number}. Valid for 10 minutes.`,
    group: 3,
    kind: 'digits',
  }) as const
