import { Button, NativeSelect } from '@mantine/core'
import { IconChartBar, IconPlus } from '@tabler/icons-react'
import { Link, useLoaderData } from 'react-router'
import type { InvoiceList } from '../../../src/invoicing/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { More } from '../../components/more.tsx'
import { Page } from '../../components/page.tsx'
import { useParameters } from '../../components/parameters.ts'
import { useRowsAgain } from '../../components/rows.ts'
import { SearchField } from '../../components/search-field.tsx'
import { invoiceStatusNames } from '../../words.ts'
import { Selection, type Selected } from '../usage/filters.tsx'
import { ExportMenu } from './export-menu.tsx'
import { InvoiceTable } from './invoice-table.tsx'
import classes from './invoices.module.css'

const filters = ['status', 'client', 'account', 'q'] as const

/** Invoices and credit notes, newest first; for partners. */
export function InvoicesPage() {
  const list = useLoaderData<InvoiceList>()
  const { get } = useParameters()
  const isAll = filters.every((name) => get(name) === '')
  useRowsAgain()
  return (
    <Page
      title="Invoices"
      actions={
        <>
          <Button component={Link} to="/invoices/unbilled" variant="default">
            Unbilled
          </Button>
          <Button
            component={Link}
            to="/invoices/report"
            variant="default"
            leftSection={<IconChartBar size={15} aria-hidden />}
          >
            Report
          </Button>
          <ExportMenu />
          <Button component={Link} to={newAddress(get)} leftSection={<IconPlus size={15} aria-hidden />}>
            New invoice
          </Button>
        </>
      }
    >
      {isAll && list.invoices.length === 0 ? (
        <NoInvoices />
      ) : (
        <>
          <Filters list={list} />
          <More
            first={list.invoices}
            next={list.next}
            pick={({ invoices }: InvoiceList) => invoices}
            idOf={({ id }) => id}
          >
            {(rows) => (rows.length === 0 ? <NoneFound /> : <InvoiceTable invoices={rows} />)}
          </More>
        </>
      )}
    </Page>
  )
}

/** A new invoice is for the payer whose invoices are shown. */
function newAddress(get: (name: string) => string): string {
  const kind = ['client', 'account'].find((name) => get(name) !== '')
  return kind === undefined ? '/invoices/new' : `/invoices/new?${kind}=${get(kind)}`
}

function Filters({ list }: { readonly list: InvoiceList }) {
  const { get, change } = useParameters()
  return (
    <search className={classes.filters}>
      <SearchField
        label="Number or payer"
        placeholder="Number or payer"
        value={get('q')}
        onSearch={(q) => change({ q })}
        onDown={() => document.querySelector<HTMLElement>('[data-row]')?.focus()}
      />
      <NativeSelect
        aria-label="State"
        data={[
          { value: '', label: 'All states' },
          ...Object.entries(invoiceStatusNames).map(([value, label]) => ({ value, label })),
        ]}
        value={get('status')}
        onChange={({ currentTarget }) => change({ status: currentTarget.value })}
      />
      <Selection selected={selectedOf(get, list)} />
    </search>
  )
}

/** The name of the payer comes with the rows; without rows there is none. */
function selectedOf(get: (name: string) => string, { invoices: [first] }: InvoiceList): Selected[] {
  const payer = first?.payer.name
  const named = [
    { name: 'client', label: 'Client', text: payer },
    { name: 'account', label: 'Account', text: payer },
  ]
  return named
    .filter(({ name }) => get(name) !== '')
    .map(({ name, label, text }) => ({ name, label, text: text ?? get(name) }))
}

function NoInvoices() {
  return (
    <Empty title="No invoices yet">
      <p>
        <Link to="/invoices/unbilled">Unbilled</Link> lists the time, expenses and usage to invoice, by payer. Drafts
        that you create there or here appear on this page for you to issue.
      </p>
      <Button component={Link} to="/invoices/new">
        New invoice
      </Button>
    </Empty>
  )
}

function NoneFound() {
  const { reset } = useParameters()
  return (
    <Empty title="No invoice found">
      <p>No invoice matches the filters.</p>
      <Button variant="default" onClick={reset}>
        Show all invoices
      </Button>
    </Empty>
  )
}
