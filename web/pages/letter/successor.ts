import type { Letter } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'

/** Begins a new version of a letter with changed text. A retry finds the version that was begun. Throws ApiError. */
export function createSuccessor(letters: string, id: string): (changed: object) => Promise<Letter> {
  const key = newKey()
  return async (changed) => {
    const begun = await change<Letter>(`${letters}/${id}/versions`, { method: 'POST', key })
    return change<Letter>(`${letters}/${begun.id}`, { method: 'PATCH', body: changed, version: begun.version })
  }
}
