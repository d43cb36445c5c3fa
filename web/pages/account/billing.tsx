import { Button } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { Link } from 'react-router'
import type { AccountShown } from '../../../src/accounts/schema.ts'
import classes from './account.module.css'
import type { Opened } from './dialogs.tsx'

interface BillingProps {
  readonly account: AccountShown
  readonly open: (dialog: Opened) => void
}

/** Whom the invoices of the account are addressed to, and where they are. */
export function Billing({ account, open }: BillingProps) {
  const details = detailsOf(account)
  return (
    <section className={classes.section} aria-labelledby="billing">
      <div className={classes.head}>
        <h2 id="billing">Invoices</h2>
        <div className={classes.actions}>
          <Link className={classes.all} to={`/invoices?account=${account.id}`}>
            All invoices
          </Link>
          <Link className={classes.all} to={`/invoices/new?account=${account.id}`}>
            New invoice
          </Link>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPencil size={14} aria-hidden />}
            onClick={() => open({ dialog: 'billing' })}
          >
            Billing details
          </Button>
        </div>
      </div>
      {details.length === 0 ? (
        <p className={classes.none}>Invoices show only the name of the account. Add the payer’s address and email.</p>
      ) : (
        <dl className={classes.billing}>
          {details.map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

function detailsOf(account: AccountShown): (readonly [name: string, text: string])[] {
  const all = [
    ['Name', account.billing_name],
    ['Address', account.billing_address],
    ['Tax number', account.billing_tax_number],
    ['Email', account.billing_email],
  ] as const
  return all.flatMap(([name, text]) => (text === null ? [] : [[name, text] as const]))
}
