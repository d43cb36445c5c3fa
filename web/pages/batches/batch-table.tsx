import { Badge, Button } from '@mantine/core'
import { useRevalidator } from 'react-router'
import type { BatchShown } from '../../../src/batches/progress/schema.ts'
import { change } from '../../api.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { useRole } from '../../components/role.ts'
import tables from '../../components/table.module.css'
import { exactTime, numberText } from '../../locale.ts'
import { counted, spoken } from '../../words.ts'
import classes from './batches.module.css'

interface BatchTableProps {
  readonly batches: readonly BatchShown[]
}

/** Batches with how far they are. Partners may cancel those that run. */
export function BatchTable({ batches }: BatchTableProps) {
  const isPartner = useRole() === 'partner'
  const mayCancel = isPartner && batches.some(({ status }) => status === 'in_progress')
  return (
    <div className={tables.frame}>
      <table className={tables.table}>
        <thead>
          <tr>
            <th scope="col">Batch</th>
            <th scope="col">Status</th>
            <th scope="col">Lines</th>
            <th scope="col" className={tables.wide}>
              Created
            </th>
            <th scope="col" className={tables.wide}>
              Ended
            </th>
            {mayCancel && <ActionsHead />}
          </tr>
        </thead>
        <tbody>
          {batches.map((batch) => (
            <BatchRow key={batch.batch_id} batch={batch} mayCancel={mayCancel} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface BatchRowProps {
  readonly batch: BatchShown
  readonly mayCancel: boolean
}

function BatchRow({ batch, mayCancel }: BatchRowProps) {
  const { batch_id: id, status, waits_for: waitsFor, created_at: createdAt, ended_at: endedAt } = batch
  const until = batch.results_until
  return (
    <tr>
      <td className={`${tables.strong} ${classes.id}`}>{id}</td>
      <td>
        <Badge className={classes.status} color={colors[status]}>
          {spoken(status)}
        </Badge>
        {waitsFor !== null && <small className={classes.more}>Waits for {waits[waitsFor]}</small>}
        {until !== null && (
          <small className={classes.more}>
            Results until <time dateTime={until}>{exactTime(until)}</time>
          </small>
        )}
      </td>
      <td className={classes.lines}>
        <Lines batch={batch} />
      </td>
      <td className={tables.wide}>
        <time dateTime={createdAt}>{exactTime(createdAt)}</time>
      </td>
      <td className={tables.wide}>{endedAt === null ? '–' : <time dateTime={endedAt}>{exactTime(endedAt)}</time>}</td>
      {mayCancel && <td className={tables.actions}>{status === 'in_progress' && <CancelButton batch={batch} />}</td>}
    </tr>
  )
}

/** A batch that was refused has no lines. */
function Lines({ batch: { batch_id: id, lines, succeeded, failed, ended_at: endedAt } }: Pick<BatchRowProps, 'batch'>) {
  if (lines === 0) return '–'
  const notRun = endedAt === null ? 0 : lines - succeeded - failed
  const rest = [
    ...(failed > 0 ? [`${numberText(failed)} failed`] : []),
    ...(notRun > 0 ? [`${numberText(notRun)} not run`] : []),
  ]
  return (
    <>
      <progress className={classes.progress} value={succeeded + failed} max={lines} aria-label={`Lines of ${id}`} />
      <span className={classes.counts}>
        {`${numberText(succeeded)} of ${counted(lines, 'line')} done`}
        {rest.length > 0 && `, ${rest.join(', ')}`}
      </span>
    </>
  )
}

function CancelButton({ batch: { batch_id: id, account_id: account } }: Pick<BatchRowProps, 'batch'>) {
  const { revalidate } = useRevalidator()
  async function cancel() {
    const text = 'Lines that have begun are run and charged. The others are not run.'
    if (!(await confirm({ title: 'Cancel this batch?', text, action: 'Cancel batch' }))) return
    try {
      await change(`/accounts/${account}/batches/${id}/cancel`, { method: 'POST' })
      notifyDone('The batch is being cancelled.')
    } catch (error) {
      notifyFailure('The batch was not cancelled', error)
    }
    await revalidate()
  }
  return (
    <Button variant="default" size="compact-sm" aria-label={`Cancel ${id}`} onClick={() => void cancel()}>
      Cancel
    </Button>
  )
}

const colors = {
  in_progress: 'blue',
  cancelling: 'gray',
  completed: 'teal',
  failed: 'red',
  cancelled: 'gray',
  expired: 'red',
} as const
const waits = { limits: 'room in the limits', credit: 'credit', model: 'its model' } as const
