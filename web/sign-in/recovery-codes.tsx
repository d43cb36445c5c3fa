/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { copyCodes, downloadCodes } from '../recovery-codes.ts'
import { useAction } from './action.ts'
import { Refused } from './api.ts'
import { Form } from './form.tsx'
import { Panel } from './panel.tsx'

interface RecoveryCodesProps {
  readonly codes: readonly string[]
  readonly onDone: () => Promise<void>
}

/** Ten codes, shown once. The person confirms that they have saved them. */
export function RecoveryCodesPage({ codes, onDone }: RecoveryCodesProps) {
  const [isSaved, setSaved] = useState(false)
  const [said, setSaid] = useState('')
  const action = useAction()

  async function goOn(): Promise<void> {
    if (!isSaved) throw new Refused('Save the codes first, then confirm above that you have.')
    await onDone()
  }

  return (
    <Panel title="Save your recovery codes">
      <p>
        If you lose your second factor, each of these codes lets you in once. They are shown only now. Keep them where
        you keep other important papers, not on the device that you sign in with.
      </p>
      <ol class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div class="row">
        <button
          type="button"
          class="button"
          onClick={() => action.run(() => copyCodes(codes).then(() => setSaid('The codes were copied.')))}
        >
          Copy
        </button>
        <button type="button" class="button" onClick={() => downloadCodes(codes)}>
          Download
        </button>
        <button type="button" class="button" onClick={() => print()}>
          Print
        </button>
      </div>
      <output>{said}</output>
      <Form action={action} submit="Continue" onSubmit={goOn}>
        <label class="check">
          <input
            type="checkbox"
            data-retry
            checked={isSaved}
            onChange={({ currentTarget }) => setSaved(currentTarget.checked)}
          />
          I have saved these codes
        </label>
      </Form>
    </Panel>
  )
}
