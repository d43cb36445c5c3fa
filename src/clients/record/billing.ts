import { isCountry, isVatId } from '../../platform/text/country.ts'
import { invoiceLanguages } from '../../platform/text/languages.ts'
import { Problem } from '../../platform/problems.ts'

/** The billing details of a client: what every invoice to it states. The names of the columns and of the fields. */
const texts = [
  'vat_number',
  'billing_street',
  'billing_extra',
  'billing_postcode',
  'billing_city',
  'billing_country',
  'buyer_reference',
  'order_number',
  'billing_language',
] as const
export const billingNames = [...texts, 'days_to_pay'] as const

export type ClientBilling = Readonly<Record<(typeof texts)[number], string | null>> & {
  readonly days_to_pay: number | null
}
/** An absent field keeps its value. */
export type ClientBillingChange = { readonly [Name in keyof ClientBilling]?: ClientBilling[Name] | undefined }

/** The billing details in `fields`, trimmed and with codes in capitals. Throws Problem `invalid_field`. */
export function readBilling(fields: ClientBillingChange): ClientBillingChange {
  const given = texts.flatMap((name) => {
    const value = fields[name]
    return value === undefined ? [] : [[name, value && textOf(name, value)] as const]
  })
  return {
    ...Object.fromEntries(given),
    ...(fields.days_to_pay !== undefined && { days_to_pay: fields.days_to_pay }),
  }
}

function textOf(name: (typeof texts)[number], value: string): string {
  const text = value.trim()
  const form = codes.get(name)
  if (form === undefined) return text
  const code = form.read(text)
  if (form.isValid(code)) return code
  throw new Problem('invalid_field', `The field ${name} must be ${form.expected}.`, { field: name })
}

interface CodeForm {
  readonly read: (text: string) => string
  readonly isValid: (code: string) => boolean
  readonly expected: string
}

const inCapitals = (text: string): string => text.toUpperCase()

const codes: ReadonlyMap<string, CodeForm> = new Map<string, CodeForm>([
  [
    'vat_number',
    {
      read: inCapitals,
      isValid: isVatId,
      expected: 'a VAT number with the code of its country, such as DE123456789',
    },
  ],
  [
    'billing_country',
    { read: inCapitals, isValid: isCountry, expected: 'the code of a country (ISO 3166-1), such as DE' },
  ],
  [
    'billing_language',
    {
      read: (text) => text.toLowerCase(),
      isValid: (code) => invoiceLanguages.some((language) => language === code),
      expected: `one of ${invoiceLanguages.join(', ')}`,
    },
  ],
])

export const billingOf = (row: ClientBilling): ClientBilling => ({
  vat_number: row.vat_number,
  billing_street: row.billing_street,
  billing_extra: row.billing_extra,
  billing_postcode: row.billing_postcode,
  billing_city: row.billing_city,
  billing_country: row.billing_country,
  buyer_reference: row.buyer_reference,
  order_number: row.order_number,
  billing_language: row.billing_language,
  days_to_pay: row.days_to_pay,
})
