/** @jsxImportSource preact */
import { useAction } from './action.ts'
import { leaveFor, post } from './api.ts'
import { Alert } from './form.tsx'

async function startOver(): Promise<void> {
  const { location: next } = await post<{ location: string }>('/auth/second-factor/abandon', {})
  await leaveFor(next)
}

/** Forgets the first step of this sign-in. Who is signed in already stays so. */
export function StartOver() {
  const action = useAction()
  return (
    <>
      <button type="button" class="link" onClick={() => action.run(startOver)}>
        Sign in as someone else
      </button>
      <Alert refusal={action.refusal} />
    </>
  )
}
