import { startTransition, useRef } from 'react'
import { change } from '../../api.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import type { Field } from '../../fields.ts'
import type { ListedPerson, PeopleList, ShownInvitation } from '../../../src/people/schema.ts'
import { roleNames } from '../../words.ts'
import { GrantsDialog } from './grants-dialog.tsx'
import { HandoverForm } from './handover-form.tsx'
import { LinkToHandOver } from './link-to-hand-over.tsx'

/** The dialog that is open. */
export type Opened =
  | { readonly dialog: 'invite' }
  | { readonly dialog: 'link'; readonly email: string; readonly link: string }
  // By id: what they are granted changes while it is open.
  | { readonly dialog: 'accounts'; readonly id: string }
  | { readonly dialog: 'rename' | 'address' | 'handover'; readonly person: ListedPerson }

interface PersonDialogsProps {
  readonly opened: Opened | undefined
  readonly open: (dialog: Opened | undefined) => void
  readonly people: PeopleList['people']
  /** Called after a change. Resolves when the page has the people as they are then. */
  readonly onDone: () => Promise<void>
}

const name: Field = { name: 'name', label: 'Name', kind: 'line', required: true, maxLength: 200 }
const email: Field = { name: 'email', label: 'Email', kind: 'line', required: true, maxLength: 254 }
const role: Field = { name: 'role', label: 'Role', kind: 'choice', choices: roleNames }

export function PersonDialogs({ opened, open, people, onDone }: PersonDialogsProps) {
  const close = () => open(undefined)
  async function done(message: string) {
    notifyDone(message)
    await onDone()
    startTransition(close)
  }
  switch (opened?.dialog) {
    case undefined:
      return null
    case 'invite':
      return <InviteDialog open={open} onDone={onDone} />
    case 'link':
      return (
        <FormDialog title="Hand over this link" closeOnEscape onClose={close}>
          <LinkToHandOver email={opened.email} link={opened.link} onClose={close} />
        </FormDialog>
      )
    case 'accounts':
      return <GrantsDialog person={people.find(({ id }) => id === opened.id)} onClose={close} onDone={onDone} />
    case 'rename':
      return <RenameDialog person={opened.person} onClose={close} onDone={done} />
    case 'address':
      return <AddressDialog person={opened.person} onClose={close} onDone={done} />
    case 'handover':
      return (
        <FormDialog title={`Hand over the clients of ${opened.person.name}`} closeOnEscape onClose={close}>
          <HandoverForm person={opened.person} people={people} onClose={close} onDone={done} />
        </FormDialog>
      )
  }
}

function save<Data>(address: string, method: 'POST' | 'PATCH', body: object): Promise<Data> {
  return change<Data>(address, { method, body })
}

interface InviteDialogProps extends Pick<PersonDialogsProps, 'open' | 'onDone'> {}

function InviteDialog({ open, onDone }: InviteDialogProps) {
  const sent = useRef<ShownInvitation>(undefined)
  return (
    <FormDialog title="Invite a person" onClose={() => open(undefined)}>
      <EditForm
        label="Invite a person"
        saveLabel="Invite"
        fields={[name, email, role]}
        initial={{ name: '', email: '', role: 'consultant' }}
        save={async (body) => {
          sent.current = await save<ShownInvitation>('/people/invitations', 'POST', body)
        }}
        onSaved={() => {
          const { link, invitation } = sent.current ?? {}
          if (link === undefined) notifyDone('The invitation is on its way.')
          open(link === undefined ? undefined : { dialog: 'link', email: invitation?.email ?? '', link })
          void onDone()
        }}
        onCancel={() => open(undefined)}
      />
    </FormDialog>
  )
}

interface ChangeProps {
  readonly person: ListedPerson
  readonly onClose: () => void
  readonly onDone: (message: string) => Promise<void>
}

function RenameDialog({ person, onClose, onDone }: ChangeProps) {
  return (
    <FormDialog title={`Rename ${person.name}`} onClose={onClose}>
      <EditForm
        label={`Rename ${person.name}`}
        fields={[name]}
        initial={{ name: person.name }}
        save={(body) => save(`/people/${person.id}`, 'PATCH', body)}
        onSaved={() => onDone('The name was changed.')}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

function AddressDialog({ person, onClose, onDone }: ChangeProps) {
  return (
    <FormDialog title={`Change the address of ${person.name}`} onClose={onClose}>
      <EditForm
        label={`Change the address of ${person.name}`}
        fields={[email]}
        initial={{ email: person.email ?? '' }}
        save={(body) => save(`/people/${person.id}`, 'PATCH', body)}
        onSaved={() => onDone(`The address was changed. ${person.name} was signed out everywhere.`)}
        onCancel={onClose}
      />
    </FormDialog>
  )
}
