import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { Empty } from '../../components/empty.tsx'
import { useRole } from '../../components/role.ts'

/** First steps for people without any client. */
export function Welcome() {
  const isPartner = useRole() === 'partner'
  return (
    <Empty title="No clients yet">
      {isPartner ? (
        <p>
          Add the first client, or import a list with the command line. Then this page shows what changed, and what is
          waiting.
        </p>
      ) : (
        <p>
          Add your first client, or ask a partner to assign clients to you. Then this page shows what changed, and what
          is waiting.
        </p>
      )}
      <Button component={Link} to="/clients#new">
        Add a client
      </Button>
      {isPartner && (
        <Button component={Link} to="/people" variant="default">
          Invite people
        </Button>
      )}
    </Empty>
  )
}
