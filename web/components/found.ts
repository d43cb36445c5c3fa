import {
  IconAddressBook,
  IconUser,
  IconCheckbox,
  IconFile,
  IconFileText,
  IconMail,
  IconReceipt,
  type Icon,
} from '@tabler/icons-react'
import type { RecordNoun, SearchResult } from '../../src/clients/schema.ts'
import { nouns } from '../fields.ts'

export const recordIcons: Readonly<Record<RecordNoun, Icon>> = {
  client: IconAddressBook,
  note: IconFileText,
  dispute: IconReceipt,
  letter: IconMail,
  document: IconFile,
  task: IconCheckbox,
  contact: IconUser,
}

/** The page of a search result. */
export function addressOf({ noun, id, client }: SearchResult): string {
  return noun === 'client' ? `/clients/${id}` : `/clients/${client.id}/${nouns[noun].path}/${id}`
}
