import type { ClientList } from '../../src/clients/schema.ts'
import type { InvoiceList } from '../../src/invoicing/schema.ts'
import { Page } from '../components/page.tsx'
import { useRole } from '../components/role.ts'
import { ClientTable } from '../pages/clients/client-table.tsx'
import filters from '../pages/clients/filters.module.css'
import type { Selection } from '../pages/clients/selection.ts'
import { InvoiceTable } from '../pages/invoices/invoice-table.tsx'
import invoices from '../pages/invoices/invoices.module.css'
import { totalOf } from '../words.ts'
import classes from './first.module.css'

const selection: Selection = {
  clients: new Map(),
  busy: false,
  toggle: () => undefined,
  mark: () => undefined,
  selectAll: () => undefined,
  clear: () => undefined,
  refresh: () => undefined,
}

/** Partners can select clients, which takes a column. */
export function FirstClients({ list }: { readonly list: ClientList }) {
  const isPartner = useRole() === 'partner'
  return (
    <Page title="Clients" aside={`${totalOf(list)} ${list.total === 1 ? 'client' : 'clients'}`}>
      <div className={filters.filters} aria-hidden>
        <span className={`${classes.box} ${filters.search}`} />
        <span className={`${classes.box} ${filters.status}`} />
        {isPartner && <span className={`${classes.box} ${filters.consultant}`} />}
        <span className={`${classes.box} ${filters.sort}`} />
      </div>
      {list.clients.length > 0 && <ClientTable clients={list.clients} selection={isPartner ? selection : undefined} />}
    </Page>
  )
}

export function FirstInvoices({ list }: { readonly list: InvoiceList }) {
  return (
    <Page title="Invoices">
      <div className={invoices.filters} aria-hidden>
        <span className={classes.box} />
        <span className={classes.box} />
      </div>
      {list.invoices.length > 0 && <InvoiceTable invoices={list.invoices} />}
    </Page>
  )
}
