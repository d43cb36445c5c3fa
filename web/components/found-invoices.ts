import { useEffect, useState } from 'react'
import type { InvoiceList, ListedInvoice } from '../../src/invoicing/schema.ts'
import { read } from '../api.ts'
import { useRole } from './role.ts'

const none: readonly ListedInvoice[] = []

/**
 * The invoices whose number has a part, at most `most`: the one with exactly this number first. None for consultants, who
 * have no invoices. The previous ones stay until the next arrive, `pause` ms after the last change.
 */
export function useFoundInvoices(part: string, most: number, pause = 0): readonly ListedInvoice[] {
  const [found, setFound] = useState(none)
  // Every number has a digit. Words are not searched among numbers that all begin alike.
  const isSearched = useRole() === 'partner' && part.length <= 60 && /\d/.test(part)
  useEffect(() => {
    if (!isSearched) return
    const given = new AbortController()
    const search = async () => {
      const address = `/invoices?${new URLSearchParams({ number: part }).toString()}`
      // What else was found is shown without the invoices.
      const { invoices } = await read<InvoiceList>(address, given.signal).catch(() => ({ invoices: none }))
      if (!given.signal.aborted) setFound(invoices)
    }
    const timer = setTimeout(() => void search(), pause)
    return () => {
      clearTimeout(timer)
      given.abort()
    }
  }, [isSearched, part, pause])
  return isSearched ? found.slice(0, most) : none
}
