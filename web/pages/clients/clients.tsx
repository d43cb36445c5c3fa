import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useLoaderData, useLocation, useNavigate } from 'react-router'
import type { ClientList } from '../../../src/clients/schema.ts'
import { useKey } from '../../components/keys.ts'
import { Page } from '../../components/page.tsx'
import { useRole } from '../../components/role.ts'
import { useRowsAgain } from '../../components/rows.ts'
import { ShowMore } from '../../components/show-more.tsx'
import { numberText } from '../../locale.ts'
import { totalOf } from '../../words.ts'
import { ClientTable } from './client-table.tsx'
import { DeletedClients } from './deleted-clients.tsx'
import { Filters } from './filters.tsx'
import { NewClient } from './new-client.tsx'
import { NoClients, SimilarOnly } from './no-clients.tsx'
import { usePages } from './paging.ts'
import { SelectionBar } from './selection-bar.tsx'
import { useSelection } from './selection.ts'

/** The clients that the person may see, with search, filters and sorting. */
export function ClientsPage() {
  const list = useLoaderData<ClientList>()
  const { clients, next, more, forget } = usePages(list)
  const selection = useSelection(clients)
  const { hash, pathname, search } = useLocation()
  const isDeleted = new URLSearchParams(search).get('status') === 'deleted'
  const canAssign = useRole() === 'partner' && !isDeleted
  const Table = isDeleted ? DeletedClients : ClientTable
  const navigate = useNavigate()
  const here = pathname + search
  // A second click before the dialog is drawn must not add a second history entry.
  const openNew = () => void navigate(`${here}#new`, { replace: location.hash === '#new' })
  useRowsAgain()
  useKey('n', (event) => {
    event.preventDefault()
    openNew()
  })
  return (
    <Page
      title="Clients"
      aside={<span aria-live="polite">{`${totalOf(list)} ${list.total === 1 ? 'client' : 'clients'}`}</span>}
      actions={
        <Button leftSection={<IconPlus size={15} />} onClick={openNew}>
          New client
        </Button>
      }
    >
      <Filters />
      {list.similar && <SimilarOnly />}
      {clients.length === 0 ? <NoClients /> : <Table clients={clients} selection={canAssign ? selection : undefined} />}
      <ShowMore
        shown={clients.length}
        total={totalOf(list)}
        hasMore={next !== null}
        onMore={more}
        label={`Show more: ${numberText(clients.length)} of ${totalOf(list)}`}
      />
      {canAssign && <SelectionBar selection={selection} list={list} onDone={forget} />}
      <NewClient opened={hash === '#new'} onClose={() => void navigate(here, { replace: true })} />
    </Page>
  )
}
