import { Button } from '@mantine/core'
import { useState } from 'react'
import type { PaymentMethod, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { change } from '../../api.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { confirm } from '../../components/confirm.tsx'
import { newKey } from '../../components/create.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import tables from '../../components/table.module.css'
import { Day } from '../../components/time.tsx'
import { moneyText } from '../../money.ts'
import { today } from '../../zone.ts'
import classes from './invoice.module.css'

type Payment = ShownInvoice['payments'][number]

/** The names of the methods. */
export const methodNames: Readonly<Record<PaymentMethod, string>> = {
  transfer: 'Transfer',
  card: 'Card',
  cash: 'Cash',
  direct_debit: 'Direct debit',
  other: 'Other',
}

interface PaymentsProps {
  readonly invoice: ShownInvoice
  readonly onDone: () => Promise<void>
}

/** The payments, including those that were recorded by mistake and reversed. */
export function Payments({ invoice, onDone }: PaymentsProps) {
  const { id, payments, currency } = invoice
  const takenBack = new Set(payments.map(({ reverses }) => reverses))
  return (
    <section className={classes.section} aria-labelledby="payments">
      <h2 id="payments">Payments</h2>
      {payments.length === 0 ? (
        <p className={classes.none}>No payment has been recorded.</p>
      ) : (
        <div className={tables.frame}>
          <table className={tables.table} aria-labelledby="payments">
            <thead>
              <tr>
                <th scope="col">Date</th>
                <th scope="col">Method</th>
                <th scope="col" className={classes.amount}>
                  Amount
                </th>
                <ActionsHead narrow />
              </tr>
            </thead>
            <tbody>
              {payments.map((payment) => (
                <tr key={payment.id}>
                  <td className={classes.day}>
                    <Day date={payment.date} />
                  </td>
                  <td className={classes.text}>{aboutPayment(payment)}</td>
                  <td className={`${classes.amount} ${tables.strong}`}>{moneyText(payment.amount, currency)}</td>
                  <td className={tables.actions}>
                    {payment.reverses === null && !takenBack.has(payment.id) && (
                      <TakeBack address={`/invoices/${id}/payments`} {...{ payment, currency, onDone }} />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function aboutPayment({ method, reference, reverses }: Payment): string {
  const about = reverses === null ? methodNames[method] : 'Reversed'
  return [about, reference].filter(Boolean).join(', ')
}

interface TakeBackProps {
  readonly address: string
  readonly payment: Payment
  readonly currency: string
  readonly onDone: () => Promise<void>
}

function TakeBack({ address, payment: { id, amount, method }, currency, onDone }: TakeBackProps) {
  const [key] = useState(newKey)
  const [busy, setBusy] = useState(false)
  async function takeBack() {
    const sure = await confirm({
      title: `Reverse the payment of ${moneyText(amount, currency)}?`,
      text: 'For a payment that was recorded by mistake. Both entries remain visible.',
      action: 'Reverse',
    })
    if (!sure) return
    setBusy(true)
    try {
      await change(address, { method: 'POST', body: { date: today(), reverses: id, method }, key })
      notifyDone('The payment was reversed.')
    } catch (error) {
      notifyFailure('The payment was not reversed', error)
    }
    await onDone()
    setBusy(false)
  }
  return (
    <Button variant="subtle" color="gray" size="compact-sm" loading={busy} onClick={() => void takeBack()}>
      Reverse
    </Button>
  )
}
