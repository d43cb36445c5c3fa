import { Button } from '@mantine/core'
import { Empty } from '../../components/empty.tsx'
import { useQuery } from './query.ts'

export function NoClients() {
  const { isUsual, reset } = useQuery()
  if (isUsual) {
    return (
      <Empty title="No clients yet">
        <p>
          Clients that are yours appear here. Add the first with “New client”, or ask a partner to assign some to you.
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing found">
      <p>No client matches the search and the filters. The search looks at the beginnings of words.</p>
      <Button variant="default" onClick={reset}>
        Show all active clients
      </Button>
    </Empty>
  )
}
