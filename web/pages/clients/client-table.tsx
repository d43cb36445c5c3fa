import { Badge } from '@mantine/core'
import { useRef, type KeyboardEvent } from 'react'
import { Link } from 'react-router'
import type { ListedClient } from '../../../src/clients/schema.ts'
import { useKey } from '../../components/keys.ts'
import { useRole } from '../../components/role.ts'
import { Ago } from '../../components/time.tsx'
import classes from './client-table.module.css'

/** The list. The arrows, or j and k, go from row to row; Enter opens one. */
export function ClientTable({ clients }: { readonly clients: readonly ListedClient[] }) {
  const table = useRef<HTMLTableElement>(null)
  const withConsultant = useRole() === 'partner'

  function move(step: number): boolean {
    const rows = [...(table.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
    const at = rows.findIndex((row) => row === document.activeElement)
    const next = at < 0 ? rows[0] : rows[at + step]
    next?.focus()
    return next !== undefined
  }

  useKey('j', () => move(1))
  useKey('k', () => move(-1))

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    if (!move(step) && step < 0) document.querySelector<HTMLElement>('main input[type=search]')?.focus()
  }

  return (
    <table ref={table} className={classes.table} onKeyDown={onKeyDown}>
      <thead>
        <tr>
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
          <Row key={client.id} client={client} withConsultant={withConsultant} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ client, withConsultant }: { readonly client: ListedClient; readonly withConsultant: boolean }) {
  const { id, name, reference, email, status, consultant, open_disputes: disputes, changed_at: changed } = client
  return (
    <tr className={classes.row}>
      <td className={classes.name}>
        <Link to={`/clients/${id}`} data-row className={classes.link}>
          {name}
        </Link>
        {status === 'archived' && <Badge color="gray">Archived</Badge>}
        <span className={classes.email}>{email}</span>
        <span className={classes.narrow}>
          {[reference, withConsultant ? consultant.name : undefined].filter(Boolean).join(' · ')}
        </span>
      </td>
      <td className={classes.wide}>{reference}</td>
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
