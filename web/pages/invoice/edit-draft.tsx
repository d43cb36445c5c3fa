import { useState } from 'react'
import type { DraftOptions, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { change } from '../../api.ts'
import { notifyDone } from '../../components/notify.ts'
import { DraftForm } from './draft-form.tsx'
import { isSameDraft, sentHead, sentLines, valuesOfDraft, type DraftValues } from './draft-values.ts'

interface EditDraftProps {
  readonly invoice: ShownInvoice
  readonly start: DraftOptions
  /** Called when the draft is saved or the changes are discarded. */
  readonly onDone: () => unknown
}

/** Changes a draft in place of showing it. */
export function EditDraft({ invoice, start: now, onDone }: EditDraftProps) {
  const start = withoutCopied(now)
  const [{ shown, initial }] = useState(() => ({ shown: invoice, initial: valuesOfDraft(invoice, start) }))
  const hasLines = shown.kind === 'invoice'
  async function save(values: DraftValues, version: number | undefined): Promise<ShownInvoice> {
    const isChanged = !isSameDraft({ ...initial, lines: values.lines }, initial)
    const body = {
      ...sentHead(values, initial),
      ...(hasLines && isChanged && { lines: sentLines(values.lines) }),
      ...(values.leftOut.length > 0 && { left_out: values.leftOut }),
    }
    return Object.keys(body).length === 0
      ? shown
      : change<ShownInvoice>(`/invoices/${shown.id}`, { method: 'PATCH', body, version })
  }
  return (
    <DraftForm
      label="Change the draft"
      saveLabel="Save draft"
      start={start}
      initial={initial}
      version={shown.version}
      proposed={shown.lines.filter(({ source }) => source !== 'fee')}
      hasLines={hasLines}
      save={save}
      onSaved={async () => {
        notifyDone('The draft was saved.')
        await onDone()
      }}
      onCancel={() => void onDone()}
    />
  )
}

/** A draft has its own copy of what a new one would take from the record of a client. */
function withoutCopied(start: DraftOptions): DraftOptions {
  const { payer, buyer } = start
  if (payer?.kind !== 'client' || buyer === null) return start
  return { ...start, buyer: { ...buyer, tax_number: null, reference: null, order_number: null }, days_to_pay: null }
}
