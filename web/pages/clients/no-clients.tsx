import { Button } from '@mantine/core'
import { Empty } from '../../components/empty.tsx'
import { useRole } from '../../components/role.ts'
import { useQuery } from './query.ts'
import classes from './client-table.module.css'

export function NoClients() {
  const { get, isUsual, isStatusOnly, reset } = useQuery()
  const isPartner = useRole() === 'partner'
  if (isUsual) {
    return (
      <Empty title="No clients yet">
        <p>
          {isPartner
            ? 'The firm’s clients appear here. Add one with “New client”, or import a list with the command line.'
            : 'Your clients appear here. Add one with “New client”, or ask a partner to assign clients to you.'}
        </p>
      </Empty>
    )
  }
  if (isStatusOnly) {
    return (
      <Empty title={emptyTitles[get('status')] ?? 'No clients yet'}>
        <Button variant="default" onClick={reset}>
          Show all active clients
        </Button>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing found">
      <p>No client matches the search and the filters. The beginning of a word is enough.</p>
      <Button variant="default" onClick={reset}>
        Show all active clients
      </Button>
    </Empty>
  )
}

const emptyTitles: Readonly<Record<string, string>> = {
  archived: 'No archived clients',
  deleted: 'No deleted clients',
}

/** Above the clients that are shown because none matches the search. */
export function SimilarOnly() {
  return (
    <output className={classes.similar}>
      No client matches the search and the filters. Clients with a similar name:
    </output>
  )
}
