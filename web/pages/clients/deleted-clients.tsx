import { Button } from '@mantine/core'
import { IconArchiveOff } from '@tabler/icons-react'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import type { ListedClient } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import classes from './client-table.module.css'

/** Deleted clients, which have no page until a partner restores them. */
export function DeletedClients({ clients }: { readonly clients: readonly ListedClient[] }) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className={classes.wide}>
            Reference
          </th>
          <th scope="col" className={classes.wide}>
            Consultant
          </th>
          <th scope="col" className={classes.when}>
            Restore
          </th>
        </tr>
      </thead>
      <tbody>
        {clients.map(({ id, name, reference, email, consultant }) => (
          <tr key={id} className={classes.row}>
            <td className={classes.name}>
              <bdi className={classes.deleted}>{name}</bdi>
              <span className={classes.email}>{email}</span>
              <span className={classes.narrow}>{[reference, consultant.name].filter(Boolean).join(' · ')}</span>
            </td>
            <td className={classes.wide}>{reference}</td>
            <td className={classes.wide}>{consultant.name}</td>
            <td className={classes.when}>
              <RestoreClient id={id} name={name} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function RestoreClient({ id, name }: Pick<ListedClient, 'id' | 'name'>) {
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState(false)

  async function restore() {
    setBusy(true)
    try {
      await change(`/clients/${id}/restore`, { method: 'POST' })
      notifyDone(`${name} was restored.`)
    } catch (error) {
      notifyFailure(`${name} was not restored`, error)
      setBusy(false)
    }
    await revalidate()
  }

  return (
    <Button
      variant="default"
      size="compact-sm"
      leftSection={<IconArchiveOff size={15} aria-hidden />}
      aria-label={`Restore ${name}`}
      loading={busy}
      onClick={() => void restore()}
    >
      Restore
    </Button>
  )
}
