import { ActionIcon, Menu } from '@mantine/core'
import {
  IconArchive,
  IconArchiveOff,
  IconClockPlay,
  IconDots,
  IconDownload,
  IconEraser,
  IconFileInvoice,
  IconHistory,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate, useRevalidator } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { ApiError, change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { useRole } from '../../components/role.ts'
import { startTimer } from '../../components/timer/timer.ts'
import { notifyUndoable } from '../../components/undo.tsx'
import { EraseDialog } from './erase-dialog.tsx'
import { useExport } from './export.ts'
import classes from './record.module.css'

export function RecordActions({ record }: { readonly record: ClientRecord }) {
  const { revalidate } = useRevalidator()
  const navigate = useNavigate()
  const isArchived = record.status === 'archived'
  const isPartner = useRole() === 'partner'
  const { busy, exportClient } = useExport(record)
  const [isErasing, setErasing] = useState(false)

  const set = (status: ClientRecord['status'], version: number) =>
    change<ClientRecord>(`/clients/${record.id}`, { method: 'PATCH', body: { status }, version })

  async function setStatus(status: ClientRecord['status']) {
    try {
      const { version } = await set(status, record.version)
      if (status === 'active') notifyDone(`${record.name} was restored.`)
      else {
        notifyUndoable(`${record.name} was archived.`, async () => {
          await set('active', version)
          await revalidate()
        })
      }
    } catch (error) {
      notifyFailure('The client was not changed', error)
    }
    await revalidate()
  }

  async function remove() {
    const sure = await confirm({
      title: `Delete ${record.name}?`,
      text: 'The record is removed from all lists, and its consultant can no longer open it. Partners find it among the deleted clients and can restore it.',
      action: 'Delete client',
    })
    if (!sure) return
    try {
      await change(`/clients/${record.id}`, { method: 'DELETE', version: record.version })
      notifyUndoable(`${record.name} was deleted.`, async () => {
        await change(`/clients/${record.id}/restore`, { method: 'POST' })
        await navigate(`/clients/${record.id}`)
      })
      await navigate('/clients')
    } catch (error) {
      notifyFailure('The client was not deleted', error)
      if (error instanceof ApiError && error.status > 0) await revalidate()
    }
  }

  return (
    <>
      <Menu position="bottom-end" width={200} shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={32} aria-label="More">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!isArchived && (
            <Menu.Item
              leftSection={<IconClockPlay size={16} />}
              onClick={() => void startTimer({ client: record, text: '' })}
            >
              Start a timer
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconHistory size={16} />}
            onClick={() => void navigate(`/clients/${record.id}/revisions`)}
          >
            Earlier versions
          </Menu.Item>
          <Menu.Item
            leftSection={isArchived ? <IconArchiveOff size={16} /> : <IconArchive size={16} />}
            onClick={() => void setStatus(isArchived ? 'active' : 'archived')}
          >
            {isArchived ? 'Restore client' : 'Archive client'}
          </Menu.Item>
          <Menu.Item leftSection={<IconDownload size={16} />} disabled={busy} onClick={exportClient}>
            Export client
          </Menu.Item>
          {isPartner && (
            <Menu.Item
              leftSection={<IconFileInvoice size={16} />}
              component={Link}
              to={`/invoices?client=${record.id}`}
            >
              Invoices
            </Menu.Item>
          )}
          {isPartner && !isArchived && (
            <Menu.Item leftSection={<IconPlus size={16} />} component={Link} to={`/invoices/new?client=${record.id}`}>
              New invoice
            </Menu.Item>
          )}
          {isPartner && (
            <>
              <Menu.Divider />
              <Menu.Item className={classes.danger} leftSection={<IconTrash size={16} />} onClick={() => void remove()}>
                Delete client
              </Menu.Item>
            </>
          )}
          {isPartner && record.erasure === null && (
            <Menu.Item
              className={classes.danger}
              leftSection={<IconEraser size={16} />}
              onClick={() => setErasing(true)}
            >
              Erase client
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isErasing && (
        <EraseDialog
          record={record}
          onClose={() => setErasing(false)}
          onDone={() => {
            setErasing(false)
            void revalidate()
          }}
        />
      )}
    </>
  )
}
