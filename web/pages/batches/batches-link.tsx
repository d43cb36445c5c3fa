import { Button } from '@mantine/core'
import { IconStack2 } from '@tabler/icons-react'
import { Link } from 'react-router'

/** Leads from an account to its batches. */
export function BatchesLink({ account }: { readonly account: string }) {
  return (
    <Button
      component={Link}
      to={`/accounts/${account}/batches`}
      variant="default"
      leftSection={<IconStack2 size={15} aria-hidden />}
    >
      Batches
    </Button>
  )
}
