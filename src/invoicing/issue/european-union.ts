import type { Tax, TaxGroup } from '../arithmetic.ts'
import { isVatId } from '../../platform/text/country.ts'
import type { InvoiceDocument } from '../document.ts'

/** What the European Union's law and its standard demand of an invoice. Another country's demands are a file like this one. */

const cent = 10n ** 10n

/**
 * Why an invoice must not be issued, as a sentence; undefined if it may. By Article 226 (4) and (11a) of Directive 2006/112/EC,
 * where the tax is the buyer's to pay, the buyer must be known.
 */
export function lawFault({ lines, buyer }: InvoiceDocument, sellerNumber: string | null): string | undefined {
  const has = hasCategory(lines)
  if (has('AE', 'K') && !isVatId(buyer.taxNumber)) {
    return 'Reverse charge and intra-community supplies require the VAT number of the buyer with its country, such as DE123456789: add it to the draft, and to the billing details of its client or account for later invoices.'
  }
  if (has('K', 'G') && !isVatId(sellerNumber)) {
    return 'Intra-community supplies and exports require the VAT number of the firm with its country (invoicing.tax_number).'
  }
  return undefined
}

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
  const has = hasCategory(lines)
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
  // BR-S-09. Only credit notes can break it: their taxes are rounded together with those before them.
  if (totals.taxes.some(isOffRate)) {
    return 'This credit note has no XML file: its tax is rounded together with that of earlier credit notes, and differs by 1 or more from the rate times the amount, which EN 16931 does not allow.'
  }
  return undefined
}

/** Whether a line has one of the tax categories. */
function hasCategory(lines: InvoiceDocument['lines']): (...some: Tax['category'][]) => boolean {
  const categories = new Set(lines.map(({ tax }) => tax.category))
  return (...some) => some.some((category) => categories.has(category))
}

/** The standard rounds the product to two decimals, half up, and tolerates less than one unit of any currency. */
function isOffRate({ net, rate, tax }: TaxGroup): boolean {
  const product = ((magnitude(net) * BigInt(rate) + 5_000n * cent) / (10_000n * cent)) * cent
  return magnitude(magnitude(tax) - product) >= 100n * cent
}

const magnitude = (amount: bigint): bigint => (amount < 0n ? -amount : amount)
