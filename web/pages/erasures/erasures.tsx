import { SegmentedControl } from '@mantine/core'
import { Link, useLoaderData } from 'react-router'
import type { ErasureList } from '../../../src/client-data/schema.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { useParameters } from '../../components/parameters.ts'
import table from '../../components/table.module.css'
import { exactTime } from '../../locale.ts'
import { counted } from '../../words.ts'
import { WithdrawButton } from '../record/erasure-banner.tsx'
import classes from './erasures.module.css'

const statuses = [
  { value: 'scheduled', label: 'Scheduled' },
  { value: 'performed', label: 'Performed' },
]

/** Scheduled and completed erasures; for partners. */
export function ErasuresPage() {
  const { erasures, total } = useLoaderData<ErasureList>()
  const { get, change } = useParameters()
  const isPast = get('status') === 'performed'
  return (
    <Page title="Erasures" aside={total > 0 && counted(total, 'client')}>
      <search className={classes.filters}>
        <SegmentedControl
          aria-label="Status"
          size="xs"
          data={statuses}
          value={isPast ? 'performed' : 'scheduled'}
          onChange={(status) => change({ status: status === 'scheduled' ? '' : status })}
        />
      </search>
      {erasures.length === 0 ? (
        <None isPast={isPast} />
      ) : (
        <div className={table.frame}>
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Client</th>
                <th scope="col">{isPast ? 'Erased' : 'Due'}</th>
                <th scope="col" className={table.wide}>
                  Scheduled by
                </th>
                {!isPast && <ActionsHead narrow />}
              </tr>
            </thead>
            <tbody>
              {erasures.map((erasure) => (
                <Row key={erasure.client.id} erasure={erasure} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {erasures.length < total && <p className={classes.more}>The first {erasures.length} are shown.</p>}
    </Page>
  )
}

function Row({ erasure }: { readonly erasure: ErasureList['erasures'][number] }) {
  const { client, reason, due_at: due, performed_at: performed, scheduled_by: by } = erasure
  const time = performed ?? due
  return (
    <tr>
      <td className={table.strong}>
        {performed === null ? <Link to={`/clients/${client.id}`}>{client.name}</Link> : <code>{client.id}</code>}
        {client.reference !== null && <span className={classes.reference}> {client.reference}</span>}
        <div className={classes.reason}>{reason}</div>
      </td>
      <td>{time !== null && <time dateTime={time}>{exactTime(time)}</time>}</td>
      <td className={table.wide}>{by?.name ?? 'The retention rule'}</td>
      {performed === null && (
        <td className={table.actions}>
          <WithdrawButton client={client} />
        </td>
      )}
    </tr>
  )
}

function None({ isPast }: { readonly isPast: boolean }) {
  return isPast ? (
    <Empty title="No client was erased">
      <p>Erased clients are listed here, with the reason.</p>
    </Empty>
  ) : (
    <Empty title="No erasure is scheduled">
      <p>To erase a client, open its record and choose “Erase client” in its menu.</p>
    </Empty>
  )
}
