import { Badge, Button } from '@mantine/core'
import type { AttemptList } from '../../../src/alerts/schema.ts'
import tables from '../../components/table.module.css'
import { preciseTime, timeZoneName } from '../../locale.ts'
import classes from './account.module.css'

interface AlertAttemptsProps {
  readonly attempts: AttemptList['attempts']
  readonly onRefresh: () => void
}

/** The attempts to send alerts, newest first. */
export function AlertAttempts({ attempts, onRefresh }: AlertAttemptsProps) {
  return (
    <>
      <div className={classes.head}>
        <h3 id="attempts">Attempts</h3>
        <Button variant="default" size="compact-sm" onClick={onRefresh}>
          Refresh
        </Button>
      </div>
      <div className={tables.frame}>
        <table className={tables.table} aria-labelledby="attempts">
          <thead>
            <tr>
              <th scope="col">Time ({timeZoneName()})</th>
              <th scope="col">About</th>
              <th scope="col" className={tables.wide}>
                To
              </th>
              <th scope="col">Outcome</th>
            </tr>
          </thead>
          <tbody>
            {attempts.map(({ id, at, email, webhook, outcome, error, ...about }) => (
              <tr key={id}>
                <td>
                  <time dateTime={at}>{preciseTime(at)}</time>
                </td>
                <td className={classes.models}>{nameOf(about)}</td>
                <td className={`${tables.wide} ${classes.models}`}>{email ?? webhook}</td>
                <td>
                  <Badge color={colors[outcome]}>{words[outcome]}</Badge> {error}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function nameOf({ share, budget, batch }: Pick<AttemptList['attempts'][number], 'share' | 'budget' | 'batch'>): string {
  if (batch !== null) return `End of ${batch}`
  if (share === null) return 'Test'
  return budget === null ? `${share} %` : `${share} % of ${budget}`
}

const words = { queued: 'Mail queued', sent: 'Sent', failed: 'Failed', given_up: 'Given up' } as const
const colors = { queued: 'gray', sent: 'teal', failed: 'red', given_up: 'red' } as const
