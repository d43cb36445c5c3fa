import { hiddenIn, isBlank } from './one-line.ts'
import { Problem } from '../problems.ts'

const longest = 200

/** Trims a display name. Throws Problem `invalid_field` if it is empty, too long or has an invisible character. */
export function checkName(text: string): string {
  const name = text.trim()
  if (isBlank(name)) throw new Problem('invalid_field', 'Give a name: it must not be empty.', { field: 'name' })
  if (name.length > longest) {
    throw new Problem('invalid_field', `Choose a shorter name: at most ${longest} characters.`, { field: 'name' })
  }
  const hidden = name.isWellFormed() ? hiddenIn(name) : 'an unpaired surrogate, which is not valid Unicode'
  if (hidden !== undefined) {
    throw new Problem('invalid_field', `Write the name on one line of plain text: it has ${hidden}.`, { field: 'name' })
  }
  return name
}
