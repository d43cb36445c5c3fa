import { ActionIcon, Menu } from '@mantine/core'
import { IconArchive, IconArchiveOff, IconDots, IconHistory } from '@tabler/icons-react'
import { useNavigate, useRevalidator } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'

export function RecordActions({ record }: { readonly record: ClientRecord }) {
  const { revalidate } = useRevalidator()
  const navigate = useNavigate()
  const isArchived = record.status === 'archived'

  async function setStatus(status: ClientRecord['status']) {
    try {
      await change(`/clients/${record.id}`, { method: 'PATCH', body: { status }, version: record.version })
      notifyDone(status === 'archived' ? `${record.name} was archived.` : `${record.name} was restored.`)
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
