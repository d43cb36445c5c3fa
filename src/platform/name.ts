import { hiddenIn, isBlank } from './one-line.ts'
import { Problem } from './problems.ts'

const longest = 200

/** A name for people, trimmed. Throws Problem `invalid_field` when it is empty, too long or has what does not show. */
export function checkName(text: string): string {
  const name = text.trim()
  if (isBlank(name)) throw new Problem('invalid_field', 'Give a name: it must not be empty.', { field: 'name' })
  if (name.length > longest) {
    throw new Problem('invalid_field', `Choose a shorter name: at most ${longest} characters.`, { field: 'name' })
  }
  const hidden = name.isWellFormed() ? hiddenIn(name) : 'half of a surrogate pair, which is not Unicode'
  if (hidden !== undefined) {
    throw new Problem('invalid_field', `Write the name on one line of plain text: it has ${hidden}.`, { field: 'name' })
  }
  return name
}
