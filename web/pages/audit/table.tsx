import { Badge } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { Link, useSearchParams } from 'react-router'
import type { AuditRow } from '../../../src/clients/schema.ts'
import { usePeople } from '../../components/people-names.ts'
import tables from '../../components/table.module.css'
import { preciseTime, timeZoneName } from '../../locale.ts'
import { counted, spoken } from '../../words.ts'
import classes from './audit.module.css'
import { collapsed, type ShownEvents } from './collapsed.ts'
import { subjectOf, type Subject } from './subject.ts'

/** The events, each with links to its subject and to the other events of its actor and its client. */
export function AuditTable({ rows }: { readonly rows: readonly AuditRow[] }) {
  const names = new Map(usePeople().map(({ id, name }) => [id, name]))
  return (
    <div className={tables.frame}>
      <table className={tables.table}>
        <thead>
          <tr>
            <th scope="col">Time ({timeZoneName()})</th>
            <th scope="col">Action</th>
            <th scope="col">Actor</th>
            <th scope="col" className={tables.wide}>
              Subject
            </th>
            <th scope="col" className={tables.wide}>
              Address
            </th>
            <th scope="col" className={tables.wide}>
              Details
            </th>
          </tr>
        </thead>
        <tbody>
          {collapsed(rows).map((events) => (
            <Row key={events.row.id} events={events} subject={subjectOf(events.row, names)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly events: ShownEvents
  readonly subject: Subject | undefined
}

function Row({ events: { row, first, count }, subject }: RowProps) {
  const details = Object.entries(row.details).map(
    ([name, value]) => `${name}: ${name === 'fields' ? listed(value) : value}`,
  )
  const about = subject && <SubjectLink subject={subject} client={row.client} />
  return (
    <tr>
      <td className={classes.time}>
        <time dateTime={row.at}>{preciseTime(row.at)}</time>
      </td>
      <td className={`${tables.strong} ${classes.action}`}>
        {spoken(row.action)}{' '}
        {row.outcome === 'refused' && (
          <Badge color="red" ml={4}>
            Refused
          </Badge>
        )}
        {count > 1 && (
          <Badge color="gray" ml={4} title={`The first at ${preciseTime(first.at)}`}>
            {counted(count, 'view')}
          </Badge>
        )}
        {about && <span className={classes.about}>{about}</span>}
      </td>
      <td className={classes.who}>
        <ActorLink actor={row.actor} />
      </td>
      <td className={`${tables.wide} ${classes.who}`}>{about}</td>
      <td className={tables.wide}>{row.address}</td>
      <td className={`${tables.wide} ${classes.details}`} title={details.join('\n')}>
        {details.join(' · ')}
      </td>
    </tr>
  )
}

/** `date text` → `date, text`. */
const listed = (names: string): string => names.split(' ').join(', ')

function SubjectLink({ subject, client }: { readonly subject: Subject; readonly client: AuditRow['client'] }) {
  const only = useFollow()
  return (
    <>
      {subject.to === undefined ? subject.text : <Link to={subject.to}>{subject.text}</Link>}
      {client && (
        <Link
          to={only('client', client.id)}
          className={classes.follow ?? ''}
          aria-label={`Only events of ${client.name ?? client.id}`}
        >
          <IconFilter size={14} aria-hidden />
        </Link>
      )}
    </>
  )
}

function ActorLink({ actor }: { readonly actor: AuditRow['actor'] }) {
  const only = useFollow()
  if (actor.kind !== 'person' || actor.id === null) return actorText(actor)
  return (
    <Link to={only('person', actor.id)} title={`Only events by ${actorText(actor)}`}>
      {actorText(actor)}
    </Link>
  )
}

/** The URL of this list with one more filter. */
function useFollow() {
  const [parameters] = useSearchParams()
  return (name: 'person' | 'client', value: string): string => {
    const followed = new URLSearchParams(parameters)
    followed.set(name, value)
    return `/audit?${followed.toString()}`
  }
}

/** The actor as text. */
function actorText({ kind, id, name }: AuditRow['actor']): string {
  switch (kind) {
    case 'person':
      return name ?? id ?? ''
    case 'command':
      return `Command line (${name ?? ''})`
    case 'key':
      return `API key ${id ?? ''}`
    case 'service':
      return 'Tollgate'
    case 'visitor':
      return 'Not signed in'
  }
}
