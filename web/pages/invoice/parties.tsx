import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import classes from './invoice.module.css'

/** The seller, once it is issued, and the buyer, as they are written on the invoice. */
export function Parties({ invoice: { seller, buyer } }: { readonly invoice: ShownInvoice }) {
  return (
    <div className={classes.parties}>
      {seller && (
        <section aria-labelledby="seller">
          <h2 id="seller">From</h2>
          <p className={classes.address}>{written(seller.name, ...seller.address)}</p>
          <p className={classes.small}>
            {written(
              seller.email,
              seller.phone,
              seller.website,
              labelled('Tax number', seller.tax_number),
              labelled('IBAN', inGroups(seller.bank?.iban)),
              labelled('BIC', seller.bank?.bic),
            )}
          </p>
        </section>
      )}
      <section aria-labelledby="buyer">
        <h2 id="buyer">Payer</h2>
        <p className={classes.address}>{written(buyer.name, buyer.address)}</p>
        <p className={classes.small}>
          {written(
            labelled('Tax number', buyer.tax_number),
            labelled('Reference', buyer.reference),
            labelled('Order', buyer.order_number),
          )}
        </p>
      </section>
    </div>
  )
}

const written = (...lines: readonly (string | null | undefined)[]): string => lines.filter(Boolean).join('\n')

/** An IBAN is written in groups of four. */
const inGroups = (iban: string | undefined) => iban?.replaceAll(/.{4}(?=.)/g, '$& ')

const labelled = (label: string, text: string | null | undefined): string => (text ? `${label} ${text}` : '')
