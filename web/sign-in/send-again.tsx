/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction } from './action.ts'
import { Alert } from './form.tsx'
import { span, useSecondsUntil } from './seconds.ts'

/** Most mails and messages have arrived by then. In ms. */
const usualDelay = 45_000

interface SendAgainProps {
  readonly what: 'mail' | 'message'
  readonly send: () => Promise<void>
}

/** Sends another mail or message, but not while the last one is probably on its way. */
export function SendAgain({ what, send }: SendAgainProps) {
  const [sentAt, setSentAt] = useState(Date.now)
  const [count, setCount] = useState(0)
  const action = useAction()
  const early = useSecondsUntil(sentAt + usualDelay)
  const wait = Math.max(early, action.wait)

  async function again(): Promise<void> {
    await send()
    setSentAt(Date.now())
    setCount(count + 1)
  }

  return (
    <div class="again">
      <button
        type="button"
        class="link"
        aria-disabled={wait > 0 || action.busy}
        onClick={() => {
          if (wait === 0) action.run(again)
        }}
      >
        {wait > 0 ? `No ${what}? Send another in ${span(wait)}` : `Send another ${what}`}
      </button>
      <output>{count > 0 && early > 0 && `Another ${what} is on its way. Only the code in the last one works.`}</output>
      <Alert refusal={action.refusal} />
    </div>
  )
}
