import type { AccountShown } from '../../../src/accounts/schema.ts'
import { ApiError } from '../../api.ts'
import type { Field, Value } from '../../fields.ts'

export const nameField: Field = { name: 'name', label: 'Name', kind: 'line', required: true, maxLength: 200 }
export const ownField: Field = {
  name: 'own',
  label: 'Whose account',
  kind: 'choice',
  choices: { false: 'A customer’s', true: 'Our own: requests can be attributed to clients' },
}
export const limitFields: readonly Field[] = [
  { name: 'requests_per_minute', label: 'Requests per minute', kind: 'amount', required: true, maxLength: 20 },
  { name: 'tokens_per_minute', label: 'Tokens per minute', kind: 'amount', required: true, maxLength: 20 },
]
/** Whom invoices are addressed to. */
export const billingFields: readonly Field[] = [
  { name: 'billing_name', label: 'Name', kind: 'line', nullable: true, maxLength: 200 },
  {
    name: 'billing_address',
    label: 'Address',
    kind: 'lines',
    nullable: true,
    maxLength: 500,
    placeholder: 'Street and number\nTown and postcode',
  },
  { name: 'billing_tax_number', label: 'Tax number', kind: 'line', nullable: true, maxLength: 50 },
  { name: 'billing_email', label: 'Email for invoices', kind: 'line', nullable: true, maxLength: 254 },
]
export const monthlyField = (currency: string): Field => ({
  name: 'monthly_limit',
  label: `Monthly limit (${currency})`,
  kind: 'amount',
  required: true,
  maxLength: 40,
})

type Body = Readonly<Record<string, Value | null>>

/** The body that the server expects: counts as numbers, the mark as a boolean, and no empty fields. */
export function settingsBody(body: Body): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, typed(name, value)]),
  )
}

function typed(name: string, value: Value | null): unknown {
  if (name === 'own') return value === 'true'
  const isCount = limitFields.some((field) => field.name === name)
  return isCount && typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
}

/** Shows the refusal of a field at another one, which stands for it in the form. Rethrows everything else. */
export function atField(names: readonly string[], field: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ApiError) || !names.includes(error.refusal.field ?? '')) throw error
    throw new ApiError(error.status, { ...error.refusal, field })
  }
}

/** Whether credit is paid in advance. */
export const isPrepaid = ({ monthly_limit: limit }: Pick<AccountShown, 'monthly_limit'>) => limit === null
