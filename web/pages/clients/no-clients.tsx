import { Button } from '@mantine/core'
import { Empty } from '../../components/empty.tsx'
import { useQuery } from './query.ts'
import classes from './client-table.module.css'

export function NoClients() {
  const { isUsual, reset } = useQuery()
  if (isUsual) {
    return (
      <Empty title="No clients yet">
        <p>Your clients appear here. Add one with “New client”, or ask a partner to assign clients to you.</p>
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

/** Above the clients that are shown because none matches the search. */
export function SimilarOnly() {
  return (
    <output className={classes.similar}>
      No client matches the search and the filters. Clients with a similar name:
    </output>
  )
}
