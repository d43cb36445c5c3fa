import fc from 'fast-check'
import { lineAmounts, totalsOf, type Tax, type TaxedLine } from '../../src/invoicing/arithmetic.ts'
import { priceBase, type InvoiceDocument, type InvoiceLine } from '../../src/invoicing/document.ts'

export const standardTax = (rate: number): Tax => ({ category: 'S', rate, reason: null })
export const exempt: Tax = { category: 'E', rate: 0, reason: 'Exempt' }

const anyTax: fc.Arbitrary<Tax> = fc.oneof(
  fc.constantFrom(1, 250, 700, 770, 810, 1900, 2550, 10_000).map(standardTax),
  fc.constantFrom<Tax>(exempt, { ...exempt, reason: 'Exempt too' }, { category: 'Z', rate: 0, reason: null }),
)
export const anyDecimals = fc.constantFrom(0, 2, 3)
export const anyEntry = fc.record({
  quantity: fc.bigInt({ min: 1n, max: 10n ** 15n }),
  price: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.bigInt({ min: 0n, max: 10n ** 18n })),
  tax: anyTax,
})
/** The lines of an invoice in a currency with `places` decimals. */
export const anyLines = fc
  .tuple(fc.array(anyEntry, { minLength: 1, maxLength: 30 }), anyDecimals)
  .map(([entries, places]) => ({
    places,
    entries,
    lines: entries.map((each): TaxedLine => ({ ...lineAmounts(each.quantity, each.price, places), tax: each.tax })),
  }))

type Entry = Partial<Pick<InvoiceLine, 'text' | 'unit' | 'tax'>> & { readonly quantity: bigint; readonly price: bigint }

/** An issued invoice with these lines. */
export function invoiceWith(
  entries: readonly Entry[],
  change: Partial<Omit<InvoiceDocument, 'lines' | 'totals'>> = {},
): InvoiceDocument {
  const { decimals } = { decimals: 2, ...change }
  const lines = entries.map(({ text = 'Advice', unit = 'hour', tax = standardTax(1900), quantity, price }, index) => ({
    position: index + 1,
    source: 'fee' as const,
    text,
    quantity,
    unit,
    unitPrice: price,
    ...lineAmounts(quantity, price, decimals, priceBase(unit)),
    tax,
    model: null,
    direction: null,
    creditsPosition: null,
  }))
  return {
    kind: 'invoice',
    number: 'INV-2026-0017',
    issuedOn: '2026-03-12',
    dueOn: '2026-04-11',
    month: null,
    supply: null,
    creditsNumber: null,
    currency: 'EUR',
    decimals,
    note: '',
    seller: {
      name: 'Berg & Partner',
      address: ['1 High Street', 'Bristol BS1 1AA'],
      email: 'office@berg.example',
      phone: '+44 117 496 0000',
      website: null,
      tax_number: 'GB123456789',
      bank: { name: 'Berg & Partner', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
      country: 'GB',
      locale: 'en-GB',
    },
    buyer: {
      name: 'Öberg & Söner AB',
      address: 'Storgatan 1\n111 22 Stockholm\nSweden',
      taxNumber: 'SE556677889901',
      place: null,
      reference: null,
      orderNumber: null,
    },
    language: null,
    ...change,
    lines,
    totals: totalsOf(lines, decimals),
  }
}

const unit = 10n ** 6n

/** 3.5 hours at 180, and a book with another tax that is rounded. */
export const sampleEntries: readonly Entry[] = [
  { text: 'Advice on the lease', quantity: (7n * unit) / 2n, price: 180n * unit },
  {
    text: 'Handbook "Leases & Deposits" <2nd>',
    unit: 'piece',
    quantity: unit,
    price: 12_345_678n,
    tax: standardTax(700),
  },
]
