import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useParams } from 'react-router'
import type { InvoiceList, ListedInvoice } from '../../src/invoicing/schema.ts'
import { read } from '../api.ts'
import { dateText } from '../locale.ts'
import { moneyText } from '../money.ts'
import { matchingOptions } from './matching-options.ts'
import { useRole } from './role.ts'

/** The number of an invoice. Partners, who may read invoices, can choose one of the client's; any other can be typed. */
export function InvoiceInput(props: AutocompleteProps) {
  const invoices = useIssued()
  const numbers = [...new Set(invoices.map(({ number }) => number))].filter((number) => number !== null)
  return (
    <Autocomplete
      {...props}
      size="sm"
      data={numbers}
      filter={matchingOptions}
      limit={mostShown}
      withScrollArea={false}
      comboboxProps={{ position: 'bottom-start', width: 'max-content' }}
      renderOption={({ option }) => <Option invoice={invoices.find(({ number }) => number === option.value)} />}
    />
  )
}

/** More would need to be scrolled. */
const mostShown = 8

/** The client's latest issued invoices and credit notes; none for consultants. */
function useIssued(): readonly ListedInvoice[] {
  const { client = '' } = useParams()
  const isPartner = useRole() === 'partner'
  const [issued, setIssued] = useState<readonly ListedInvoice[]>([])
  useEffect(() => {
    if (!isPartner) return
    const leaving = new AbortController()
    // Without the list, the number can be typed.
    read<InvoiceList>(`/invoices?client=${client}`, leaving.signal)
      .then(({ invoices }) => setIssued(invoices))
      .catch(() => setIssued([]))
    return () => leaving.abort()
  }, [client, isPartner])
  return issued
}

function Option({ invoice }: { readonly invoice: ListedInvoice | undefined }) {
  if (!invoice) return null
  const { number, issued_on: issued, gross, currency } = invoice
  return (
    <span>
      {number}
      <small>{` ${issued === null ? '' : dateText(issued)}, ${moneyText(gross, currency)}`}</small>
    </span>
  )
}
