import type { ConfiguredModelJson } from '../../../src/models/schema.ts'
import { clearAmount } from '../../../src/platform/text/typed-amount.ts'
import { change } from '../../api.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import type { Field } from '../../fields.ts'
import { decimalMark, timeZoneName } from '../../locale.ts'
import { instantOf } from '../../zone.ts'
import classes from './models.module.css'
import { hasRules, rulesOf } from './price-text.ts'

interface NewPriceProps {
  readonly model: ConfiguredModelJson
  readonly currency: string
  readonly onClose: () => void
  readonly onDone: (message: string) => Promise<void>
}

/** Sets a price of a model, from now or later. */
export function NewPrice({ model, currency, onClose, onDone }: NewPriceProps) {
  return (
    <FormDialog title={`Price of ${model.id}`} onClose={onClose}>
      <p className={classes.about}>
        Per million tokens. Requests that were charged already keep their price.
        {hasRules(model.price) &&
          ' The rules of the price in force stay as they are; price set on the command line changes them.'}
      </p>
      <EditForm
        label={`Price of ${model.id}`}
        saveLabel="Set price"
        fields={fieldsFor(currency).filter(({ name }) => model.kind === 'text' || !ofText.has(name))}
        initial={{
          input: clearAmount(model.price?.input ?? '', decimalMark()),
          ...(model.kind === 'text' && {
            output: clearAmount(model.price?.output ?? '', decimalMark()),
            cached_input: clearAmount(model.price?.cached_input ?? '', decimalMark()),
            cache_write: clearAmount(model.price?.cache_write ?? '', decimalMark()),
          }),
          valid_from: '',
        }}
        save={({ valid_from: from, ...prices }) => {
          const begins = typeof from === 'string' && from !== '' && { valid_from: utc(from) }
          const body = { ...rulesOf(model.price), ...prices, ...begins }
          return change(`/models/${encodeURIComponent(model.id)}/prices`, { method: 'POST', body })
        }}
        onSaved={() => onDone('The price was set.')}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

/** Embeddings have neither output nor a prompt cache. */
const ofText: ReadonlySet<string> = new Set(['output', 'cached_input', 'cache_write'])

const fieldsFor = (currency: string): readonly Field[] => [
  { name: 'input', label: `Input (${currency})`, kind: 'amount', required: true, placeholder: '0.10', maxLength: 40 },
  { name: 'output', label: `Output (${currency})`, kind: 'amount', required: true, placeholder: '0.40', maxLength: 40 },
  ...(['cached_input', 'cache_write'] as const).map((name) => ({
    name,
    label: `${name === 'cached_input' ? 'Cached input' : 'Cache write'} (${currency}, empty: as input)`,
    kind: 'amount' as const,
    optional: true,
    maxLength: 40,
  })),
  { name: 'valid_from', label: `From, time in ${timeZoneName()} (empty: now)`, kind: 'moment' },
]

/** The time in UTC of a time in the firm's zone. What is not a time is sent as it is, for the server to refuse. */
function utc(local: string): string {
  const instant = instantOf(local)
  return instant === undefined ? local : new Date(instant).toISOString()
}
