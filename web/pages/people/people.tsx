import { ActionIcon, Badge, Menu, NativeSelect } from '@mantine/core'
import { IconDots, IconLogout, IconUserCheck, IconUserOff } from '@tabler/icons-react'
import { useLoaderData, useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { Initials } from '../../components/initials.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import tables from '../../components/table.module.css'
import { Ago } from '../../components/time.tsx'
import { content } from '../../content.ts'
import type { ListedPerson, PeopleList } from '../../wire.ts'
import { counted, roleNames } from '../../words.ts'
import classes from './people.module.css'

/** Everybody who may sign in, for partners: what they may do, and whether they still may. */
export function PeoplePage() {
  const { people } = useLoaderData<PeopleList>()
  return (
    <Page title="People" aside={counted(people.length, 'person', 'people')}>
      <div className={tables.frame}>
        <table className={tables.table}>
          <thead className={classes.head}>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Role</th>
              <th scope="col" className={tables.wide}>
                Clients
              </th>
              <th scope="col" className={tables.wide}>
                Last signed in
              </th>
              <th scope="col">
                <span className={tables.hidden}>Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {people.map((person) => (
              <PersonRow key={person.id} person={person} />
            ))}
          </tbody>
        </table>
      </div>
    </Page>
  )
}

function PersonRow({ person }: { readonly person: ListedPerson }) {
  const { name, email, role, status, clients, last_signed_in_at: signedIn } = person
  const actions = usePersonActions(person)
  return (
    <tr className={classes.row}>
      <td>
        <span className={classes.person}>
          <Initials name={name} />
          <span className={classes.who}>
            <span className={classes.name}>
              {name}
              {status === 'disabled' && <Badge color="gray">Disabled</Badge>}
            </span>
            <span className={classes.email}>{email}</span>
          </span>
        </span>
      </td>
      <td className={classes.roleCell}>
        <NativeSelect
          size="xs"
          className={classes.role}
          aria-label={`Role of ${name}`}
          data={Object.entries(roleNames).map(([value, label]) => ({ value, label }))}
          value={role}
          onChange={({ currentTarget }) =>
            void actions.setRole(currentTarget.value === 'partner' ? 'partner' : 'consultant')
          }
        />
      </td>
      <td className={tables.wide}>{clients}</td>
      <td className={tables.wide}>{signedIn === null ? 'Never' : <Ago time={signedIn} />}</td>
      <td className={tables.actions}>
        <PersonMenu person={person} actions={actions} />
      </td>
    </tr>
  )
}

type PersonActions = ReturnType<typeof usePersonActions>

function PersonMenu({ person, actions }: { readonly person: ListedPerson; readonly actions: PersonActions }) {
  const isActive = person.status === 'active'
  return (
    <Menu position="bottom-end" width={220} shadow="md">
      <Menu.Target>
        <ActionIcon aria-label={`More for ${person.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void actions.endSessions()}>
          Sign out everywhere
        </Menu.Item>
        <Menu.Item
          leftSection={isActive ? <IconUserOff size={16} /> : <IconUserCheck size={16} />}
          onClick={() => void actions.setStatus(isActive ? 'disabled' : 'active')}
        >
          {isActive ? 'Disable' : 'Enable again'}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function usePersonActions({ id, name }: ListedPerson) {
  const { revalidate } = useRevalidator()

  async function carryOut(request: () => Promise<unknown>, done: string) {
    try {
      await request()
      notifyDone(done)
    } catch (error) {
      notifyFailure('Nothing was changed', error)
    }
    // Whoever takes their own role away may not see this page any more.
    if (id === content.viewer?.person.id) location.reload()
    else await revalidate()
  }
  const patch = (body: object) => () => change(`/people/${id}`, { method: 'PATCH', body })

  return {
    async setRole(role: ListedPerson['role']) {
      const sure = await confirm({
        title: `Make ${name} a ${roleNames[role].toLowerCase()}?`,
        text:
          role === 'partner'
            ? 'Partners see every client, the people and the audit log. The open sessions of this person end.'
            : 'Consultants see their own clients only. The open sessions of this person end.',
        action: `Make ${roleNames[role].toLowerCase()}`,
      })
      if (sure) await carryOut(patch({ role }), `${name} is a ${roleNames[role].toLowerCase()} now.`)
    },
    async setStatus(status: ListedPerson['status']) {
      const sure =
        status === 'active' ||
        (await confirm({
          title: `Disable ${name}?`,
          text: 'They are signed out everywhere at once and cannot sign in. Their clients stay theirs until you assign them.',
          action: 'Disable',
        }))
      if (sure)
        await carryOut(patch({ status }), status === 'active' ? `${name} may sign in again.` : `${name} is disabled.`)
    },
    endSessions: () =>
      carryOut(() => change(`/people/${id}/sessions`, { method: 'DELETE' }), `${name} is signed out everywhere.`),
  }
}
