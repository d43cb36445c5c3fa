import { ActionIcon, Button, Menu } from '@mantine/core'
import {
  IconDots,
  IconDownload,
  IconFileTypePdf,
  IconFileTypeXml,
  IconPencil,
  IconPrinter,
  IconReceiptRefund,
  IconTrash,
} from '@tabler/icons-react'
import { useState, type RefObject } from 'react'
import { useLocation } from 'react-router'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { change } from '../../api.ts'
import { confirm, type Question } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { saveLinked } from '../../components/save-linked.ts'
import { CreditDialog } from './credit-dialog.tsx'
import classes from './invoice.module.css'
import { PaymentDialog } from './payment-dialog.tsx'
import { isZero } from './zero.ts'

interface ActionsProps {
  readonly invoice: ShownInvoice
  readonly onDone: () => Promise<void>
}

interface InvoiceActionsProps extends ActionsProps {
  /** The button that opens the editor. */
  readonly editor: RefObject<HTMLButtonElement | null>
  readonly onEdit: () => void
}

/** The actions that the invoice's state allows a partner. */
export function InvoiceActions({ invoice, editor, onEdit, onDone }: InvoiceActionsProps) {
  return (
    <>
      <Button variant="default" leftSection={<IconPrinter size={15} aria-hidden />} onClick={() => print()}>
        Print
      </Button>
      {invoice.status !== 'void' && <Downloads invoice={invoice} />}
      {invoice.status === 'draft' && (
        <Button ref={editor} variant="default" leftSection={<IconPencil size={15} aria-hidden />} onClick={onEdit}>
          Change
        </Button>
      )}
      {invoice.status === 'draft' && <DraftActions invoice={invoice} onDone={onDone} />}
      {invoice.kind === 'invoice' && invoice.number !== null && <IssuedActions invoice={invoice} onDone={onDone} />}
    </>
  )
}

/** The files of an invoice. A draft has no XML, which is for programs. */
function Downloads({ invoice: { id, number, xml_fault: fault } }: Pick<ActionsProps, 'invoice'>) {
  return (
    <Menu position="bottom-end" width={220} shadow="md">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={15} aria-hidden />}>
          Download
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component="a"
          href={`/invoices/${id}/pdf`}
          download
          leftSection={<IconFileTypePdf size={16} />}
          onClick={(event) => void saveLinked(event)}
        >
          PDF
        </Menu.Item>
        {fault === null && (
          <Menu.Item component="a" href={`/invoices/${id}/xml`} download leftSection={<IconFileTypeXml size={16} />}>
            XML (EN 16931)
          </Menu.Item>
        )}
        {number !== null && fault !== null && <Menu.Label>{fault}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  )
}

function DraftActions({ invoice: { id, kind, version, before_issue: faults }, onDone }: ActionsProps) {
  const [busy, setBusy] = useState(false)
  const it = kind === 'invoice' ? 'invoice' : 'credit note'

  const notes = faults.map(({ text }) => text)

  async function send(to: 'issue' | 'void', question: Question, done: string, failed: string) {
    if (!(await confirm(question))) return
    setBusy(true)
    try {
      await change(`/invoices/${id}/${to}`, { method: 'POST', version })
      notifyDone(done)
    } catch (error) {
      notifyFailure(failed, error)
    }
    await onDone()
    setBusy(false)
  }

  const issue = () =>
    send(
      'issue',
      faults.some(({ stops }) => stops)
        ? { title: `This ${it} cannot be issued yet`, text: 'Correct this first:', notes }
        : {
            title: `Issue this ${it}?`,
            text: `It gets the next number and today’s date. It cannot be changed afterwards${kind === 'invoice' ? ', only corrected by a credit note' : ''}.`,
            notes,
            action: 'Issue',
          },
      `The ${it} is issued.`,
      `The ${it} was not issued`,
    )
  const giveUp = () =>
    send(
      'void',
      { title: 'Void this draft?', text: 'It remains readable and gets no number.', action: 'Void draft' },
      'The draft is void.',
      'The draft was not voided',
    )

  return (
    <>
      <Button loading={busy} onClick={() => void issue()}>
        Issue
      </Button>
      <Menu position="bottom-end" width={180} shadow="md">
        <Menu.Target>
          <ActionIcon aria-label="More actions for this draft" size="lg">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item className={classes.danger} leftSection={<IconTrash size={16} />} onClick={() => void giveUp()}>
            Void draft
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}

function IssuedActions({ invoice, onDone }: ActionsProps) {
  const { hash } = useLocation()
  // A dispute links to `#credit`.
  const [opened, open] = useState<'payment' | 'credit' | undefined>(
    hash === '#credit' && invoice.status !== 'credited' ? 'credit' : undefined,
  )
  const close = () => open(undefined)
  return (
    <>
      {invoice.status !== 'credited' && (
        <Button
          variant="default"
          leftSection={<IconReceiptRefund size={15} aria-hidden />}
          onClick={() => open('credit')}
        >
          Credit note
        </Button>
      )}
      {!isZero(invoice.open) && <Button onClick={() => open('payment')}>Record payment</Button>}
      {opened === 'payment' && <PaymentDialog invoice={invoice} onClose={close} onDone={onDone} />}
      {opened === 'credit' && <CreditDialog invoice={invoice} onClose={close} />}
    </>
  )
}
