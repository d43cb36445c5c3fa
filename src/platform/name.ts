import { Problem } from './problems.ts'

const longest = 200

/** A name for people, trimmed. Throws Problem `invalid_field` when it is empty, too long or not printable. */
export function checkName(text: string): string {
  const name = text.trim()
  if (name === '') throw new Problem('invalid_field', 'Give a name: it must not be empty.', { field: 'name' })
  if (name.length > longest) {
    throw new Problem('invalid_field', `Choose a shorter name: at most ${longest} characters.`, { field: 'name' })
  }
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw new Problem('invalid_field', 'Choose a name without control characters.', { field: 'name' })
  }
  return name
}
