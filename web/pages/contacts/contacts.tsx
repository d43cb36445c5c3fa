import { useLoaderData } from 'react-router'
import type { Contact } from '../../../src/clients/schema.ts'
import { InParts } from '../../components/in-parts.tsx'
import { Items } from '../record/items.tsx'

/** The people to write to about the client, by name. */
export function ContactsTab() {
  const { contacts } = useLoaderData<{ readonly contacts: readonly Contact[] }>()
  return (
    <InParts all={contacts}>
      {(shown) => (
        <Items
          noun="contact"
          items={shown}
          blank={{ name: '', job_title: '', email: '', phone: '', language: '' }}
          emptyText="Add the people to write to about this client. Letters can be sent to those with an email address."
        />
      )}
    </InParts>
  )
}
