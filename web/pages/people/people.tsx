import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconLogout, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLoaderData, useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { confirm } from '../../components/confirm.tsx'
import { Empty } from '../../components/empty.tsx'
import { notifyFailure } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import { SearchField } from '../../components/search-field.tsx'
import tables from '../../components/table.module.css'
import type { PeopleList } from '../../../src/people/schema.ts'
import { bestMatches } from '../../../src/platform/text/spelling.ts'
import { counted } from '../../words.ts'
import { PersonDialogs, type Opened } from './dialogs.tsx'
import { Invitations } from './invitations.tsx'
import { PersonRow } from './person-row.tsx'
import classes from './people.module.css'

/** Everyone who can sign in, and the open invitations; for partners. */
export function PeoplePage() {
  const { people, invitations } = useLoaderData<PeopleList>()
  const { revalidate } = useRevalidator()
  const [opened, open] = useState<Opened>()
  const [query, setQuery] = useState('')
  const found = bestMatches(people, query, ({ name, email }) => [name, email ?? ''])
  return (
    <Page
      title="People"
      aside={counted(people.length, 'person', 'people')}
      actions={
        <>
          <Button leftSection={<IconPlus size={15} />} onClick={() => open({ dialog: 'invite' })}>
            Invite
          </Button>
          <PageMenu />
        </>
      }
    >
      <Invitations invitations={invitations} open={open} />
      <SearchField
        className={classes.search}
        label="Search people"
        placeholder="Name or email"
        value={query}
        onSearch={setQuery}
        onDown={() => document.querySelector<HTMLElement>('[data-people] button')?.focus()}
      />
      {found.length === 0 ? (
        <Empty title="Nobody found">
          <p>No name or address contains “{query}”.</p>
          <Button variant="default" onClick={() => setQuery('')}>
            Show everyone
          </Button>
        </Empty>
      ) : (
        <PeopleTable people={found} open={open} />
      )}
      <PersonDialogs opened={opened} open={open} people={people} onDone={revalidate} />
    </Page>
  )
}

function PeopleTable({ people, open }: { readonly people: PeopleList['people']; readonly open: (it: Opened) => void }) {
  return (
    <div className={tables.frame}>
      <table className={tables.table} data-people>
        <thead className={classes.head}>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Role</th>
            <th scope="col" className={tables.wide}>
              Active clients or accounts
            </th>
            <th scope="col" className={tables.wide}>
              Last signed in
            </th>
            <ActionsHead />
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <PersonRow key={person.id} person={person} open={open} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function PageMenu() {
  return (
    <Menu position="bottom-end" width={220} shadow="md">
      <Menu.Target>
        <ActionIcon aria-label="More actions for everyone" size="lg">
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOutEveryone()}>
          Sign everyone out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

async function signOutEveryone(): Promise<void> {
  const sure = await confirm({
    title: 'Sign everyone out?',
    text: 'All sessions of everyone end at once, yours included. Unsaved text of other people may be lost.',
    action: 'Sign everyone out',
  })
  if (!sure) return
  try {
    await change('/people/sessions', { method: 'DELETE' })
    location.reload()
  } catch (error) {
    notifyFailure('Nobody was signed out', error)
  }
}
