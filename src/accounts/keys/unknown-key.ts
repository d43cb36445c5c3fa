import { quoted } from '../../platform/text/one-line.ts'
import { Problem } from '../../platform/problems.ts'
import { publicIdOf } from './key-format.ts'

export function unknownKey(id: string): Problem {
  // Operators may paste the key itself: never repeat it on a screen or in a log.
  if (id.startsWith('tg_')) {
    const hint = `Find the key that begins with tg_${publicIdOf(id)}: ./tollgate key list`
    return new Problem('not_found', `Give the id of the key, not the key itself. ${hint}`)
  }
  return new Problem('not_found', `No key has the id ${quoted(id)}. List the keys: ./tollgate key list`)
}
