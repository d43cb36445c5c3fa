import type { Tax } from './arithmetic.ts'
import { isVatId } from './country.ts'
import type { InvoiceDocument } from './document.ts'

const cent = 10n ** 10n

/**
 * Why an invoice cannot be written as EN 16931 demands, as a sentence; undefined if it can. The standard demands more
 * than an invoice on paper has to have.
 */
export function standardFault({ number, seller, buyer, lines, totals }: InvoiceDocument): string | undefined {
  if (number === null || seller === null) return 'A draft has no XML file: issue it first.'
  // BR-DEC-09 and its like. The net and the tax are sums of the lines and of the taxes.
  if ([...lines, ...totals.taxes].some(({ net }) => net % cent !== 0n) || totals.tax % cent !== 0n) {
    return 'This invoice has no XML file: EN 16931 allows two decimals, and its amounts have more.'
  }
  const categories = new Set(lines.map(({ tax }) => tax.category))
  const has = (...some: Tax['category'][]) => some.some((category) => categories.has(category))
  // BR-S-02 and its like.
  if (seller.tax_number === null && has('S', 'Z', 'E', 'AE')) {
    return 'This invoice has no XML file: EN 16931 requires the tax number of the firm (invoicing.tax_number), which was not set when the invoice was issued.'
  }
  // BR-IC-02 and BR-G-02.
  if (!isVatId(seller.tax_number) && has('K', 'G')) {
    return 'This invoice has no XML file: for the tax categories K and G, EN 16931 requires the VAT number of the firm with its country, such as DE123456789.'
  }
  // BR-AE-02 and BR-IC-02.
  if (!isVatId(buyer.taxNumber) && has('AE', 'K')) {
    return 'This invoice has no XML file: for the tax categories AE and K, EN 16931 requires the VAT number of the buyer with its country, such as DE123456789.'
  }
  return undefined
}
