import { useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { AccountList, AccountShown } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import type { Field } from '../../fields.ts'
import { atField, limitFields, nameField, ownField, settingsBody } from './settings-fields.ts'

interface NewAccountProps extends Pick<AccountList, 'defaults' | 'currency'> {
  readonly onClose: () => void
}

/** Creates an account and goes to it. */
export function NewAccount({ defaults, currency, onClose }: NewAccountProps) {
  const navigate = useNavigate()
  const made = useRef<AccountShown>(undefined)
  const [key] = useState(newKey)
  return (
    <FormDialog title="New account" onClose={onClose}>
      <EditForm
        label="New account"
        saveLabel="Create account"
        fields={fieldsFor(currency)}
        initial={{
          name: '',
          own: 'false',
          kind: 'credit',
          amount: '',
          requests_per_minute: String(defaults.requests_per_minute),
          tokens_per_minute: String(defaults.tokens_per_minute),
        }}
        save={async ({ kind, amount, ...rest }) => {
          const money = { [String(kind)]: amount ?? '' }
          const body = settingsBody({ ...rest, ...money })
          made.current = await change<AccountShown>('/accounts', { method: 'POST', body, key }).catch(
            atField(['credit', 'monthly_limit'], 'amount'),
          )
        }}
        onSaved={() => made.current && navigate(`/accounts/${made.current.id}`)}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

const fieldsFor = (currency: string): readonly Field[] => [
  nameField,
  ownField,
  {
    name: 'kind',
    label: 'Pays',
    kind: 'choice',
    choices: { credit: 'In advance, from credit', monthly_limit: 'In arrears, up to a monthly limit' },
  },
  {
    name: 'amount',
    label: `Amount (${currency})`,
    kind: 'amount',
    required: true,
    placeholder: '25.00',
    maxLength: 40,
  },
  ...limitFields,
]
