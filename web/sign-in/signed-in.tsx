/** @jsxImportSource preact */
import { content } from '../content.ts'
import { page } from './wire.ts'

/** For a person who is signed in already and comes back to the sign-in page. */
export function SignedIn() {
  const name = content.viewer?.person.name
  if (name === undefined) return null
  return (
    <>
      <p>
        You are signed in as <strong>{name}</strong>.
      </p>
      <a class="button" href={page.return_to ?? '/'}>
        Continue
      </a>
      <p class="or">or sign in as someone else</p>
    </>
  )
}
