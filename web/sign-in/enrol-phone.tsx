/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction } from './action.ts'
import { CodeForm, messageCode } from './code-form.tsx'
import type { EnrolProps } from './enrol.tsx'
import { Field } from './fields.tsx'
import { Form } from './form.tsx'
import { SendAgain } from './send-again.tsx'

/** First the number, then the code that was sent to it. */
export function EnrolPhone({ begin, complete }: EnrolProps) {
  const [number, setNumber] = useState('')
  const [isSent, setSent] = useState(false)
  const action = useAction()
  const send = async () => {
    await begin({ number })
    setSent(true)
  }
  if (!isSent) {
    return (
      <Form action={action} submit="Send me a code" onSubmit={send}>
        <Field
          label="Telephone number"
          hint="With the country code, such as +49 151 12345678."
          name="number"
          value={number}
          onValue={setNumber}
          refusal={action.refusal}
          isFirst
          isRetried
          native={{ type: 'tel', autocomplete: 'tel' }}
        />
      </Form>
    )
  }
  return (
    <>
      <CodeForm {...messageCode(number)} submit="Set up" onCode={(code) => complete({ code })} />
      <SendAgain what="message" send={send} />
      <button type="button" class="link" onClick={() => setSent(false)}>
        Use another number
      </button>
    </>
  )
}
