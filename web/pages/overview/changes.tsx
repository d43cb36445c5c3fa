import { Badge } from '@mantine/core'
import { Link } from 'react-router'
import type { ChangedClient, ChangedItem, OverviewData } from '../../../src/overview/schema.ts'
import { recordIcons } from '../../components/found.ts'
import { useRole } from '../../components/role.ts'
import { Ago, Day } from '../../components/time.tsx'
import { weekdayText } from '../../locale.ts'
import { addressOfItem, doneText } from './change-words.ts'
import classes from './overview.module.css'
import { Section } from './section.tsx'
import { Shortened } from './shortened.tsx'

interface ChangesProps {
  readonly changes: OverviewData['changes']
  readonly since: string
}

/** Changes since the last working day, by client. */
export function Changes({ changes: { clients, more }, since }: ChangesProps) {
  return (
    <Section
      title={`Changes since ${weekdayText(since)}`}
      aside="The last working day"
      isEmpty={clients.length === 0}
      none="Nothing has changed since then."
    >
      <Shortened of={{ items: clients, total: clients.length, total_is_exact: !more }} atFirst={5}>
        {(changed) => <Changed key={changed.client.id} changed={changed} />}
      </Shortened>
      {more && (
        <p className={classes.more}>
          <Link to="/clients?sort=-changed_at">All clients by their last change</Link>
        </p>
      )}
    </Section>
  )
}

function Changed({ changed: { client, status, items, more } }: { readonly changed: ChangedClient }) {
  const isPartner = useRole() === 'partner'
  return (
    <li className={classes.client}>
      <h3>
        <Link to={`/clients/${client.id}`} data-row>
          {client.name}
        </Link>
        {status === 'archived' && <Badge color="gray">Archived</Badge>}
        {isPartner && <span className={classes.dim}>{client.consultant.name}</span>}
      </h3>
      <ul>
        {items.map((item) => (
          <Item key={item.noun + item.id} item={item} client={client} />
        ))}
      </ul>
      {more && (
        <p className={classes.more}>
          <Link to={`/clients/${client.id}/activity`}>More changes of {client.name}</Link>
        </p>
      )}
    </li>
  )
}

function Item({ item, client }: { readonly item: ChangedItem; readonly client: ChangedClient['client'] }) {
  const ItemIcon = recordIcons[item.noun]
  return (
    <li className={classes.row}>
      <ItemIcon size={16} stroke={1.6} aria-hidden />
      <div className={classes.text}>
        <Link to={addressOfItem(item, client.id)} data-row className={classes.link}>
          <ItemTitle item={item} />
        </Link>
        <p>{doneText(item, client.consultant.name)}</p>
      </div>
      <span className={classes.end}>
        <Ago time={item.at} />
      </span>
    </li>
  )
}

function ItemTitle({ item: { noun, title } }: { readonly item: ChangedItem }) {
  switch (noun) {
    case 'client':
      return 'Client details'
    case 'note':
      return <>Note of {title === null ? 'a meeting' : <Day date={title} />}</>
    case 'dispute':
      return `Dispute of ${title ?? 'an invoice'}`
    case 'letter':
      return title ?? 'Letter'
  }
}
