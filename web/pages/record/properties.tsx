import { ActionIcon } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useRevalidator } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { Initials } from '../../components/initials.tsx'
import { useOpened } from '../../components/opened.ts'
import { Ago } from '../../components/time.tsx'
import { nouns, valuesOf } from '../../fields.ts'
import classes from './properties.module.css'

/** The client's own fields, with their form in the same place. */
export function Properties({ record }: { readonly record: ClientRecord }) {
  const { revalidate } = useRevalidator()
  const { fields } = nouns.client
  const address = `/clients/${record.id}`
  const { isOpen, opener, open, close } = useOpened({ keptAs: address })
  if (isOpen) {
    return (
      <aside className={classes.properties} aria-label="Client">
        <EditForm
          label="Edit client"
          fields={fields}
          initial={valuesOf(fields, record)}
          version={record.version}
          save={(body, version) =>
            change(address, { method: 'PATCH', body, ...(version !== undefined && { version }) })
          }
          within={address}
          keptAs={address}
          onSaved={async () => {
            await revalidate()
            close()
          }}
          onCancel={close}
        />
      </aside>
    )
  }
  return (
    <aside className={classes.properties} aria-label="Client">
      <div className={classes.head}>
        <h2>Client</h2>
        {record.status === 'active' && (
          <ActionIcon ref={opener} aria-label="Edit client" onClick={open}>
            <IconPencil size={16} />
          </ActionIcon>
        )}
      </div>
      <dl className={classes.list}>
        <Property name="Consultant">
          <span className={classes.person}>
            <Initials name={record.consultant.name} />
            {record.consultant.name}
          </span>
        </Property>
        <Property name="Reference">{record.reference ?? <None />}</Property>
        <Property name="Email">{record.email === null ? <None /> : <EmailLink email={record.email} />}</Property>
        <Property name="Address">
          {record.address === null ? <None /> : <span className={classes.lines}>{record.address}</span>}
        </Property>
        <Property name="Created" isMinor>
          <Ago time={record.created_at} />
        </Property>
        <Property name="Changed" isMinor>
          <Ago time={record.changed_at} />
        </Property>
        <Property name="Version" isMinor>
          <Link to={`${address}/revisions`} aria-label={`Version ${record.version} of the client`} preventScrollReset>
            {record.version}
          </Link>
          <span className={classes.since}>
            <Ago time={record.updated_at} />
          </span>
        </Property>
      </dl>
    </aside>
  )
}

interface PropertyProps {
  readonly name: string
  /** Hidden on small screens. */
  readonly isMinor?: boolean
  readonly children: ReactNode
}

function Property({ name, isMinor = false, children }: PropertyProps) {
  return (
    <div className={classes.property} data-minor={isMinor || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A long address breaks after the @ first. */
function EmailLink({ email }: { readonly email: string }) {
  const at = email.lastIndexOf('@') + 1
  return (
    <a href={`mailto:${encodeURIComponent(email)}`}>
      {email.slice(0, at)}
      <wbr />
      {email.slice(at)}
    </a>
  )
}

function None() {
  return <span className={classes.none}>None</span>
}
