import { Checkbox, NativeSelect } from '@mantine/core'
import { useRef, useState } from 'react'
import { Link, useLoaderData, useNavigate } from 'react-router'
import type { Buyer, DraftOptions, InvoiceChange, NewLine, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { ApiError, change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { Page } from '../../components/page.tsx'
import { useParameters } from '../../components/parameters.ts'
import { isLeaving } from '../../unsaved.ts'
import { dateText, monthText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { counted } from '../../words.ts'
import { DraftForm } from './draft-form.tsx'
import formClasses from './draft-form.module.css'
import { newValues, sentHead, sentLines } from './draft-values.ts'
import classes from './invoice.module.css'
import { PayerChoice } from './payer-choice.tsx'

/** Creates the draft of an invoice to a client or an account; for partners. */
export function NewInvoicePage() {
  const start = useLoaderData<DraftOptions>()
  const { payer, taxes } = start
  const navigate = useNavigate()
  const { change: changeParameters } = useParameters()
  const [month, setMonth] = useState('')
  /** The client whose unbilled work becomes lines, too. */
  const [billed, setBilled] = useState<string>()
  const [initial] = useState(() => newValues(taxes))
  const create = useMaker(payer, { month, until: billed === payer?.id ? start.unbilled?.until : undefined })
  return (
    <Page title="New invoice" heading={<Heading />}>
      <div className={formClasses.payer}>
        <PayerChoice
          payer={payer}
          onChoose={(kind, id) => {
            setMonth('')
            setBilled(undefined)
            changeParameters({ client: '', account: '', [kind]: id })
          }}
        />
        {payer?.kind === 'account' && <MonthChoice start={start} month={month} onChoose={setMonth} />}
        {payer && start.unbilled && (
          <UnbilledWork
            unbilled={start.unbilled}
            currency={start.currency}
            isBilled={billed === payer.id}
            onChoose={(isBilled) => setBilled(isBilled ? payer.id : undefined)}
          />
        )}
      </div>
      {payer && (
        <DraftForm
          label="New invoice"
          saveLabel="Create draft"
          start={start}
          initial={initial}
          proposed={[]}
          hasLines
          save={(values) => create({ ...sentHead(values, initial), lines: sentLines(values.lines) })}
          onSaved={({ id }) => (isLeaving() ? undefined : navigate(`/invoices/${id}`, { replace: true }))}
          onCancel={() => void navigate('/invoices', { replace: true })}
        />
      )}
    </Page>
  )
}

interface Content {
  readonly lines: NewLine[]
  readonly note?: string
  readonly buyer?: Buyer
  readonly supply?: InvoiceChange['supply']
}

/** What becomes lines besides those that are typed. */
interface Billed {
  /** The month of an account; empty: none. */
  readonly month: string
  /** The last day of a client's unbilled work. */
  readonly until: string | undefined
}

/** Creates one draft, however often it is tried: one whose response was lost is changed to what was typed since. */
function useMaker(payer: DraftOptions['payer'], { month, until }: Billed) {
  const begun = useRef<{ readonly of: string; readonly key: string; readonly content: Content }>(undefined)
  return async (content: Content): Promise<ShownInvoice> => {
    const bills = payer && {
      [payer.kind]: payer.id,
      ...(month !== '' && { month }),
      ...(until !== undefined && { unbilled_until: until }),
    }
    const of = JSON.stringify(bills)
    // A key is only for what was sent with it first.
    const first = begun.current?.of === of ? begun.current : { of, key: newKey(), content }
    begun.current = first
    const body = { ...bills, ...first.content }
    const made = await change<ShownInvoice>('/invoices', { method: 'POST', body, key: first.key }).catch(
      (error: unknown) => {
        if (!isLost(error)) begun.current = undefined
        throw error
      },
    )
    if (first.content === content) return made
    return change<ShownInvoice>(`/invoices/${made.id}`, { method: 'PATCH', body: content, version: made.version })
  }
}

/** Whether the draft may have been created all the same. */
const isLost = (error: unknown): boolean => error instanceof ApiError && (error.status === 0 || error.status >= 500)

interface MonthChoiceProps {
  readonly start: DraftOptions
  readonly month: string
  readonly onChoose: (month: string) => void
}

/** The usage of a past month, which becomes lines when the draft is created. */
function MonthChoice({ start: { months, currency }, month, onChoose }: MonthChoiceProps) {
  const chosen = months.find((each) => each.month === month)
  return (
    <>
      <NativeSelect
        label="Usage of"
        data={[
          { value: '', label: months.length === 0 ? 'No month is left to bill' : 'No month' },
          ...months.map((each) => ({ value: each.month, label: monthText(each.month) })),
        ]}
        value={month}
        onChange={({ currentTarget: { value } }) => onChoose(value)}
      />
      {chosen && (
        <p className={formClasses.about}>
          The usage of {monthText(month)}, which cost {moneyText(chosen.cost, currency)}, becomes lines of the draft.
        </p>
      )}
    </>
  )
}

interface UnbilledWorkProps {
  readonly unbilled: NonNullable<DraftOptions['unbilled']>
  readonly currency: string
  readonly isBilled: boolean
  readonly onChoose: (isBilled: boolean) => void
}

/** The time, expenses and letters of a client, which become lines when the draft is created. */
function UnbilledWork({ unbilled: { items, amount, until }, currency, isBilled, onChoose }: UnbilledWorkProps) {
  return (
    <Checkbox
      className={formClasses.unbilled ?? ''}
      label={`Bill the unbilled work: ${moneyText(amount, currency)}`}
      description={`${counted(items, 'entry', 'entries')} up to ${dateText(until)}. You can leave out some in the draft.`}
      checked={isBilled}
      onChange={({ currentTarget: { checked } }) => onChoose(checked)}
    />
  )
}

function Heading() {
  return (
    <div>
      <Link className={classes.back} to="/invoices">
        Invoices
      </Link>
      <span className={classes.heading}>
        <h1>New invoice</h1>
      </span>
    </div>
  )
}
