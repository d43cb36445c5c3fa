import { ActionIcon } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { useRevalidator } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { useOpened } from '../../components/opened.ts'
import { billingFields, nouns, sentBody, valuesOf, type Field } from '../../fields.ts'
import classes from './properties.module.css'
import { Billing, PropertyList } from './property-list.tsx'

/** The client's own fields and its billing details, each with their form in the same place. */
export function Properties({ record }: { readonly record: ClientRecord }) {
  const { revalidate } = useRevalidator()
  const address = `/clients/${record.id}`
  const billingForm = `${address}/billing`
  const [client, billing] = [useOpened({ keptAs: address }), useOpened({ keptAs: billingForm })]
  const form = (label: string, fields: readonly Field[], keptAs: string, close: () => void) => (
    <aside className={classes.properties} aria-label="Client">
      <EditForm
        label={label}
        fields={fields}
        initial={valuesOf(fields, record)}
        version={record.version}
        save={(body, version) =>
          change(address, {
            method: 'PATCH',
            body: sentBody(fields, body),
            ...(version !== undefined && { version }),
          })
        }
        within={address}
        keptAs={keptAs}
        onSaved={async () => {
          await revalidate()
          close()
        }}
        onCancel={close}
      />
    </aside>
  )
  if (client.isOpen) return form('Edit client', nouns.client.fields, address, client.close)
  if (billing.isOpen) return form('Edit billing details', billingFields, billingForm, billing.close)
  const isActive = record.status === 'active'
  return (
    <aside className={classes.properties} aria-label="Client">
      <Head name="Client" editLabel="Edit client" opened={client} isActive={isActive} />
      <PropertyList record={record} />
      <Head name="Billing" editLabel="Edit billing details" opened={billing} isActive={isActive} />
      <Billing record={record} />
    </aside>
  )
}

interface HeadProps {
  readonly name: string
  readonly editLabel: string
  readonly opened: ReturnType<typeof useOpened>
  readonly isActive: boolean
}

function Head({ name, editLabel, opened: { opener, open }, isActive }: HeadProps) {
  return (
    <div className={classes.head}>
      <h2>{name}</h2>
      {isActive && (
        <ActionIcon ref={opener} aria-label={editLabel} onClick={open}>
          <IconPencil size={16} />
        </ActionIcon>
      )}
    </div>
  )
}
