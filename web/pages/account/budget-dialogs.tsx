import { useState } from 'react'
import type { BudgetShown } from '../../../src/accounts/budgets/schema.ts'
import type { KeyShown } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { valuesOf, type Field, type Value } from '../../fields.ts'
import classes from './account.module.css'
import type { AccountData } from './account.tsx'

interface BudgetDialogProps {
  readonly data: AccountData
  readonly onClose: () => void
  readonly onDone: (message: string) => Promise<void>
}

type Typed = Readonly<Record<string, Value | null>>

/** Creates a budget of some keys, or of a tag. */
export function NewBudgetDialog({ data, onClose, onDone }: BudgetDialogProps) {
  const { account, keys, timeZones } = data
  const [key] = useState(newKey)
  const fields = [
    nameField,
    amountField(account.currency),
    periodField,
    { ...zoneField, choices: Object.fromEntries(timeZones.map((zone) => [zone, zone])) },
    hardField,
    keysField(keys),
    ...tagFields,
  ]
  const initial = {
    ...valuesOf(fields, {}),
    period: 'month',
    time_zone: timeZones[0] ?? 'UTC',
    hard: 'true',
    keys: [],
  }
  return (
    <FormDialog title="New budget" onClose={onClose}>
      <p className={classes.about}>
        Shared by some keys, or by all requests with a tag. It includes what they have spent in the current period.
      </p>
      <EditForm
        label="New budget"
        saveLabel="Create budget"
        fields={fields}
        initial={initial}
        save={(typed) =>
          change(`/accounts/${account.id}/budgets`, {
            method: 'POST',
            body: newBudget({ ...initial, ...typed }, keys),
            key,
          })
        }
        onSaved={() => onDone('The budget was created.')}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

/** Changes the name, the amount, the kind and the keys of a budget. */
export function ChangeBudgetDialog({
  data,
  budget,
  onClose,
  onDone,
}: BudgetDialogProps & { readonly budget: BudgetShown }) {
  const { account, keys } = data
  const ofKeys = budget.keys === null ? [] : [keysField(keys)]
  const fields = [nameField, amountField(account.currency), hardField, ...ofKeys]
  const named = keys.flatMap((each) => (budget.keys?.includes(each.id) ? [labelOf(each)] : []))
  return (
    <FormDialog title={`Change ${budget.name}`} onClose={onClose}>
      <EditForm
        label={`Change ${budget.name}`}
        fields={fields}
        initial={{ ...valuesOf(fields, budget), ...(budget.keys !== null && { keys: named }) }}
        save={(typed) => change(addressOf(budget), { method: 'PATCH', body: changedBudget(typed, keys) })}
        onSaved={() => onDone('The budget was changed.')}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

/** Adds to the amount of a budget for a time. */
export function RaiseDialog({ data, budget, onClose, onDone }: BudgetDialogProps & { readonly budget: BudgetShown }) {
  const fields = raiseFields(data.account.currency, budget)
  return (
    <FormDialog title={`Raise ${budget.name}`} onClose={onClose}>
      <p className={classes.about}>
        {budget.renews_at === null
          ? 'In addition to its amount, until that day begins (UTC).'
          : 'In addition to its amount, until that day begins (UTC). Without a day: until it is renewed.'}{' '}
        0 ends a raise.
      </p>
      <EditForm
        label={`Raise ${budget.name}`}
        saveLabel="Raise"
        fields={fields}
        initial={{ by: '', until: '' }}
        save={(body) => change(`${addressOf(budget)}/raise`, { method: 'POST', body })}
        onSaved={() => onDone('The budget was raised.')}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

const addressOf = ({ account_id: account, id }: BudgetShown): string => `/accounts/${account}/budgets/${id}`

const nameField: Field = {
  name: 'name',
  label: 'Name',
  kind: 'line',
  required: true,
  maxLength: 200,
  placeholder: 'Team Apollo',
}
const amountField = (currency: string): Field => ({
  name: 'amount',
  label: `Amount (${currency})`,
  kind: 'amount',
  required: true,
  maxLength: 40,
})
const periodField: Field = {
  name: 'period',
  label: 'Renewed',
  kind: 'choice',
  choices: { day: 'Every day', week: 'Every week, on Monday', month: 'Every month', total: 'Never: a total' },
}
const zoneField: Field = { name: 'time_zone', label: 'At midnight in', kind: 'choice' }
const hardField: Field = {
  name: 'hard',
  label: 'When nothing is left',
  kind: 'choice',
  choices: { true: 'Refuse requests', false: 'Only count' },
}
/** A key that is not valid cannot join. */
const keysField = (keys: readonly KeyShown[]): Field => ({
  name: 'keys',
  label: 'Keys',
  kind: 'names',
  placeholder: 'Name of a key, then Enter',
  suggestions: keys.filter(({ status, person_id: person }) => status === 'valid' && person === null).map(labelOf),
})
const tagFields: readonly Field[] = [
  { name: 'tag_name', label: 'Or a tag: its name', kind: 'line', maxLength: 64, placeholder: 'project' },
  { name: 'tag_value', label: 'Its value', kind: 'line', maxLength: 128, placeholder: 'Apollo' },
]
const raiseFields = (currency: string, { renews_at: renews }: BudgetShown): readonly Field[] => [
  { ...amountField(currency), name: 'by', label: `Raise by (${currency})` },
  {
    name: 'until',
    label: renews === null ? 'Until' : 'Until (optional)',
    kind: 'date',
    nullable: true,
    required: renews === null,
  },
]

/** Keys can have the same name. */
const labelOf = ({ name, public_id: publicId }: KeyShown): string => `${name} (tg_${publicId}…)`

/** What is no label of a key is sent as it is, for the server to refuse. */
function idsOf(labels: Value, keys: readonly KeyShown[]): string[] {
  const ids = new Map(keys.map((key) => [labelOf(key), key.id]))
  return [labels].flat().map((label) => ids.get(label) ?? label)
}

function newBudget(
  { name, amount, period, time_zone, hard, keys, tag_name, tag_value }: Typed,
  all: readonly KeyShown[],
): object {
  const ids = idsOf(keys ?? [], all)
  const isTagged = Boolean(tag_name) || Boolean(tag_value)
  return {
    name,
    amount,
    period,
    time_zone,
    hard: hard === 'true',
    ...(ids.length > 0 && { keys: ids }),
    ...(isTagged && { tag: { name: tag_name, value: tag_value } }),
  }
}

function changedBudget({ hard, keys, ...rest }: Typed, all: readonly KeyShown[]): object {
  return {
    ...rest,
    ...(hard !== undefined && { hard: hard === 'true' }),
    ...(keys !== undefined && { keys: idsOf(keys ?? [], all) }),
  }
}
