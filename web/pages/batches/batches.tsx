import { Button } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useEffect } from 'react'
import { Link, useLoaderData, useLocation, useParams, useRevalidator } from 'react-router'
import type { AccountBatches } from '../../../src/batches/progress/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { useLive } from '../../components/live.ts'
import { More } from '../../components/more.tsx'
import { Page } from '../../components/page.tsx'
import { BatchTable } from './batch-table.tsx'

/** ms between two looks at batches that are open. */
const pause = 3000

const hasOpen = ({ batches }: AccountBatches) => batches.some((batch) => batch.ended_at === null)

/** How far the batches of an account are, the newest first. Looks again until all have ended. */
export function AccountBatchesPage() {
  const { account = '' } = useParams()
  const { pathname, search } = useLocation()
  const { revalidate } = useRevalidator()
  const loaded = useLoaderData<AccountBatches>()
  const { data } = useLive(pathname + search, loaded, hasOpen(loaded) ? pause : null)
  const allEnded = hasOpen(loaded) && !hasOpen(data)
  useEffect(() => {
    if (allEnded) void revalidate()
  }, [allEnded, revalidate])
  return (
    <Page
      title="Batches"
      actions={
        <Button
          component={Link}
          to={`/accounts/${account}`}
          variant="default"
          leftSection={<IconArrowLeft size={15} aria-hidden />}
        >
          Account
        </Button>
      }
    >
      <More
        first={data.batches}
        next={data.next}
        pick={({ batches }: AccountBatches) => batches}
        idOf={(batch) => batch.batch_id}
      >
        {(batches) => (batches.length === 0 ? <None /> : <BatchTable batches={batches} />)}
      </More>
    </Page>
  )
}

function None() {
  return (
    <Empty title="No batches yet">
      <p>
        A key of the account can queue requests that are not urgent: see <a href="/docs">the API documentation</a>.
        Batches stay here for 30 days after their end.
      </p>
    </Empty>
  )
}
