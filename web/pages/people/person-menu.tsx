import { ActionIcon, Menu } from '@mantine/core'
import {
  IconArrowsExchange,
  IconAt,
  IconBuildingBank,
  IconDots,
  IconLogout,
  IconPencil,
  IconShieldOff,
  IconTrash,
  IconUnlink,
  IconUserCheck,
  IconUserOff,
} from '@tabler/icons-react'
import type { ListedPerson } from '../../../src/people/schema.ts'
import type { Opened } from './dialogs.tsx'
import classes from './people.module.css'
import type { PersonActions } from './person-actions.ts'

interface PersonMenuProps {
  readonly person: ListedPerson
  readonly actions: PersonActions
  readonly open: (dialog: Opened) => void
}

export function PersonMenu({ person, actions, open }: PersonMenuProps) {
  const isActive = person.status === 'active'
  return (
    <Menu position="bottom-end" width={240} shadow="md">
      <Menu.Target>
        <ActionIcon aria-label={`More actions for ${person.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => open({ dialog: 'rename', person })}>
          Rename
        </Menu.Item>
        <Menu.Item leftSection={<IconAt size={16} />} onClick={() => open({ dialog: 'address', person })}>
          Change address
        </Menu.Item>
        {person.role === 'developer' && (
          <Menu.Item
            leftSection={<IconBuildingBank size={16} />}
            onClick={() => open({ dialog: 'accounts', id: person.id })}
          >
            Granted accounts
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconArrowsExchange size={16} />} onClick={() => open({ dialog: 'handover', person })}>
          Hand over clients
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void actions.endSessions()}>
          Sign out everywhere
        </Menu.Item>
        {person.identities > 0 && (
          <Menu.Item leftSection={<IconUnlink size={16} />} onClick={() => void actions.unlink()}>
            Unlink accounts
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconShieldOff size={16} />} onClick={() => void actions.resetFactors()}>
          Reset second factors
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={isActive ? <IconUserOff size={16} /> : <IconUserCheck size={16} />}
          onClick={() => void actions.setStatus(isActive ? 'disabled' : 'active')}
        >
          {isActive ? 'Disable' : 'Enable'}
        </Menu.Item>
        <Menu.Item
          className={classes.danger}
          leftSection={<IconTrash size={16} />}
          onClick={() => void actions.remove()}
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
