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
import type { ListedPerson, PeopleList } from '../../../src/people/schema.ts'
import { counted, roleNames } from '../../words.ts'
import classes from './people.module.css'

/** Everyone who can sign in, with role and status; for partners. */
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
                Active clients
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
          {isActive ? 'Disable' : 'Enable'}
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
      notifyFailure('The person was not changed', error)
    }
    // A partner who changes their own role may lose access to this page.
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
            ? 'Partners can see every client, all people and the audit log. This ends all sessions of this person.'
            : 'Consultants can see only their own clients. This ends all sessions of this person.',
        action: `Make ${roleNames[role].toLowerCase()}`,
      })
      if (sure) await carryOut(patch({ role }), `${name} is now a ${roleNames[role].toLowerCase()}.`)
    },
    async setStatus(status: ListedPerson['status']) {
      const sure =
        status === 'active' ||
        (await confirm({
          title: `Disable ${name}?`,
          text: 'They are signed out everywhere and can no longer sign in. They keep their clients until you assign those to someone else.',
          action: 'Disable',
        }))
      if (sure)
        await carryOut(patch({ status }), status === 'active' ? `${name} can sign in again.` : `${name} is disabled.`)
    },
    endSessions: () =>
      carryOut(() => change(`/people/${id}/sessions`, { method: 'DELETE' }), `${name} was signed out everywhere.`),
  }
}
