import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import type { InvoiceMailKind, ProposedMail, SentMail } from '../../../src/invoicing/mail/schema.ts'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { read } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import tables from '../../components/table.module.css'
import { Ago } from '../../components/time.tsx'
import { mailStateNames } from '../../words.ts'
import classes from './invoice.module.css'
import { SendDialog } from './send-dialog.tsx'

const stateNames = { ...mailStateNames, withdrawn: 'Not sent: nothing was open, or it was disputed' }

interface SentProps {
  readonly invoice: ShownInvoice
  readonly onDone: () => Promise<void>
}

/** The mails with the invoice and its reminders, and sending another one. */
export function Sent({ invoice, onDone }: SentProps) {
  const { id, sent, status, disputes } = invoice
  const isDisputed = disputes.some((dispute) => dispute.status === 'open')
  const [mail, setMail] = useState<ProposedMail>()
  async function open(kind: InvoiceMailKind) {
    try {
      setMail(await read<ProposedMail>(`/invoices/${id}/mail?kind=${kind}`))
    } catch (error) {
      notifyFailure('No mail can be sent now', error)
    }
  }
  return (
    <section className={`${classes.section} ${classes.onScreen}`} aria-labelledby="sent">
      <Group justify="space-between">
        <h2 id="sent">Sent</h2>
        <Group gap="xs">
          {status === 'overdue' && !isDisputed && (
            <Button variant="default" onClick={() => void open('reminder')}>
              Send a reminder
            </Button>
          )}
          <Button variant="default" onClick={() => void open('invoice')}>
            Send by mail
          </Button>
        </Group>
      </Group>
      {isDisputed && (
        <p className={classes.none}>The client disputes this invoice. Reminders wait until that has ended.</p>
      )}
      {sent.length === 0 ? (
        <p className={classes.none}>It has not been sent by mail.</p>
      ) : (
        <Mails invoice={id} sent={sent} />
      )}
      {mail && <SendDialog invoice={invoice} mail={mail} onClose={() => setMail(undefined)} onDone={onDone} />}
    </section>
  )
}

function Mails({ invoice, sent }: { readonly invoice: string; readonly sent: readonly SentMail[] }) {
  return (
    <div className={tables.frame}>
      <table className={`${tables.table} ${classes.lines}`} aria-labelledby="sent">
        <thead>
          <tr>
            <th scope="col">Mail</th>
            <th scope="col">State</th>
            <th scope="col" className={tables.wide}>
              By
            </th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {sent.map((mail) => (
            <tr key={mail.id}>
              <td className={classes.text}>
                <details>
                  <summary>{mail.subject}</summary>
                  <p className={classes.note}>{mail.message}</p>
                </details>
                <span className={classes.small}>{[mail.to, mail.cc].filter((each) => each !== null).join(', ')}</span>
                <a
                  className={`${classes.small} ${classes.file}`}
                  href={`/invoices/${invoice}/mails/${mail.id}/pdf`}
                  download
                  aria-label={`PDF as sent: ${mail.subject}`}
                >
                  PDF as sent
                </a>
              </td>
              <td>{stateNames[mail.state]}</td>
              <td className={tables.wide}>{mail.by?.name ?? 'Automatic'}</td>
              <td className={classes.day}>
                <Ago time={mail.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
