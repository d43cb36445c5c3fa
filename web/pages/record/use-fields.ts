import { useRole } from '../../components/role.ts'
import { nouns, taskOwner, type Field } from '../../fields.ts'
import type { ItemNoun } from './items.tsx'
import { participantsOf } from './participants.ts'
import { useRecord } from './use-record.ts'

/** The fields of an item's form. The participants of a note are suggested from this client's notes. Partners choose who does a task. */
export function useFields(noun: ItemNoun): readonly Field[] {
  const { notes } = useRecord()
  const isPartner = useRole() === 'partner'
  const { fields } = nouns[noun]
  if (noun === 'task' && isPartner) return [...fields, taskOwner]
  if (noun !== 'note') return fields
  const suggestions = participantsOf(notes)
  return fields.map((field) => (field.kind === 'names' ? { ...field, suggestions } : field))
}
