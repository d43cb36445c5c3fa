import { readEmail } from '../../people/email.ts'
import { Problem } from '../../platform/problems.ts'
import type { ItemKind } from '../items/kinds.ts'
import { contact, contactChange, contactList, newContact } from '../schema.ts'

/** The people to write to about a client. */
export const contacts: ItemKind = Object.freeze({
  noun: 'contact',
  plural: 'contacts',
  columns: ['name', 'job_title', 'email', 'phone', 'language'],
  order: 'words(n.name), n.id',
  shape: contact,
  listShape: contactList,
  newBody: newContact,
  changeBody: contactChange,
  defaults: {},
  toColumns({ email, ...rest }) {
    return { ...rest, ...(email !== undefined && { email: typeof email === 'string' ? addressIn(email) : null }) }
  },
  toFields: ({ name, job_title, email, phone, language }) => ({ name, job_title, email, phone, language }),
} satisfies ItemKind)

function addressIn(text: string): string {
  const address = readEmail(text)?.address
  if (address !== undefined) return address
  throw new Problem('invalid_field', 'The field email must be an email address: name@example.com.', { field: 'email' })
}
