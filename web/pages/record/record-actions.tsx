import { ActionIcon, Menu } from '@mantine/core'
import { IconArchive, IconArchiveOff, IconDots, IconHistory } from '@tabler/icons-react'
import { useNavigate, useRevalidator } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { notifyUndoable } from '../../components/undo.tsx'

export function RecordActions({ record }: { readonly record: ClientRecord }) {
  const { revalidate } = useRevalidator()
  const navigate = useNavigate()
  const isArchived = record.status === 'archived'

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

  return (
    <Menu position="bottom-end" width={200} shadow="md">
      <Menu.Target>
        <ActionIcon variant="default" size={32} aria-label="More">
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
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
      </Menu.Dropdown>
    </Menu>
  )
}
