import { Modal } from '@mantine/core'
import { useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { createMaker } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { useRole } from '../../components/role.ts'
import { content } from '../../content.ts'
import { isLeaving } from '../../unsaved.ts'
import { nouns } from '../../fields.ts'

/** Adds a client and goes to its record. */
export function NewClient({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="New client"
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      <NewClientForm onClose={onClose} />
    </Modal>
  )
}

function NewClientForm({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const isPartner = useRole() === 'partner'
  const fields = nouns.client.fields.filter(({ kind }) => isPartner || kind !== 'consultant')
  const made = useRef<ClientRecord>(undefined)
  const [make] = useState(() => createMaker<ClientRecord>('/clients'))
  return (
    <EditForm
      label="New client"
      saveLabel="Add client"
      fields={fields}
      initial={{ name: '', reference: '', email: '', address: '', consultant_id: content.viewer?.person.id ?? '' }}
      save={async (body) => {
        made.current = await make(body)
      }}
      // Replaces the form in the history, so that Back leads to the list.
      onSaved={() => made.current && !isLeaving() && navigate(`/clients/${made.current.id}`, { replace: true })}
      onCancel={onClose}
    />
  )
}
