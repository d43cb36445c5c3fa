import { Badge } from '@mantine/core'
import { useRef } from 'react'
import { Link } from 'react-router'
import type { ListedClient } from '../../../src/clients/schema.ts'
import { useKey } from '../../components/keys.ts'
import { useRole } from '../../components/role.ts'
import { focusedRow, useRowKeys } from '../../components/rows.ts'
import { Ago } from '../../components/time.tsx'
import classes from './client-table.module.css'
import type { Selection } from './selection.ts'

interface ClientTableProps {
  readonly clients: readonly ListedClient[]
  /** Absent for people who can do nothing with selected clients. */
  readonly selection?: Selection | undefined
}

/** The list. The arrows, or j and k, go from row to row; Enter opens one, and x selects it. */
export function ClientTable({ clients, selection }: ClientTableProps) {
  const table = useRef<HTMLTableElement>(null)
  const withConsultant = useRole() === 'partner'

  const onKeyDown = useRowKeys(table, (step) => {
    if (step < 0) document.querySelector<HTMLElement>('main input[type=search]')?.focus()
  })
  useKey('x', () => {
    const at = focusedRow()?.dataset['row']
    const client = clients.find(({ id }) => id === at)
    if (client) selection?.toggle(client, false)
  })

  return (
    <table ref={table} className={classes.table} onKeyDown={onKeyDown}>
      <thead>
        <tr>
          {selection && <SelectAll clients={clients} selection={selection} />}
          <th scope="col">Name</th>
          <th scope="col" className={classes.wide}>
            Reference
          </th>
          {withConsultant && (
            <th scope="col" className={classes.wide}>
              Consultant
            </th>
          )}
          <th scope="col">Disputes</th>
          <th scope="col" className={classes.when}>
            Changed
          </th>
        </tr>
      </thead>
      <tbody>
        {clients.map((client) => (
          <Row key={client.id} client={client} withConsultant={withConsultant} selection={selection} />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps extends Pick<ClientTableProps, 'selection'> {
  readonly client: ListedClient
  readonly withConsultant: boolean
}

function Row({ client, withConsultant, selection }: RowProps) {
  const { id, name, reference, email, status, consultant, open_disputes: disputes, changed_at: changed } = client
  return (
    <tr className={classes.row} data-selected={selection?.clients.has(id) || undefined}>
      {selection && (
        <td className={classes.choice}>
          <label>
            <input
              type="checkbox"
              aria-label={`Select ${name}`}
              checked={selection.clients.has(id)}
              onChange={({ nativeEvent }) => selection.toggle(client, isWithShift(nativeEvent))}
            />
          </label>
        </td>
      )}
      <td className={classes.name}>
        <Link to={`/clients/${id}`} data-row={id} className={classes.link}>
          {name}
        </Link>
        {status === 'archived' && <Badge color="gray">Archived</Badge>}
        <span className={classes.email}>{email}</span>
        <span className={classes.narrow}>
          {[reference, withConsultant ? consultant.name : undefined].filter(Boolean).join(' · ')}
        </span>
      </td>
      <td className={classes.wide} title={reference ?? undefined}>
        {reference}
      </td>
      {withConsultant && <td className={classes.wide}>{consultant.name}</td>}
      <td className={classes.disputes}>
        {disputes > 0 && (
          <span className={classes.open}>
            {disputes}
            <span className={classes.word}> open</span>
          </span>
        )}
      </td>
      <td className={classes.when}>
        <Ago time={changed} />
      </td>
    </tr>
  )
}

/** The change of a checkbox comes with the click that caused it. */
const isWithShift = (event: Event): boolean => 'shiftKey' in event && event.shiftKey === true

function SelectAll({
  clients,
  selection,
}: Required<Pick<ClientTableProps, 'clients'>> & { readonly selection: Selection }) {
  const count = clients.filter(({ id }) => selection.clients.has(id)).length
  const isAll = count === clients.length
  return (
    <th scope="col" className={classes.choice}>
      <label>
        <input
          type="checkbox"
          aria-label="Select all on this page"
          checked={isAll}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && !isAll
          }}
          onChange={() => selection.mark(clients, !isAll)}
        />
      </label>
    </th>
  )
}
