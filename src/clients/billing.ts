import { isCountry, isVatId } from '../platform/country.ts'
import { Problem } from '../platform/problems.ts'

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
  if (name !== 'vat_number' && name !== 'billing_country') return text
  const code = text.toUpperCase()
  const isValid = name === 'vat_number' ? isVatId(code) : isCountry(code)
  if (isValid) return code
  const expected =
    name === 'vat_number'
      ? 'a VAT number with the code of its country, such as DE123456789'
      : 'the code of a country (ISO 3166-1), such as DE'
  throw new Problem('invalid_field', `The field ${name} must be ${expected}.`, { field: name })
}

export const billingOf = (row: ClientBilling): ClientBilling => ({
  vat_number: row.vat_number,
  billing_street: row.billing_street,
  billing_extra: row.billing_extra,
  billing_postcode: row.billing_postcode,
  billing_city: row.billing_city,
  billing_country: row.billing_country,
  buyer_reference: row.buyer_reference,
  order_number: row.order_number,
  days_to_pay: row.days_to_pay,
})
