import type { InvoiceDocument } from '../document.ts'

const euro = 10n ** 12n
const cent = 10n ** 10n

/**
 * The content of the QR code from which banking apps fill in a SEPA credit transfer (EPC069-12, version 002). Undefined
 * for another currency, without an account, and for an amount that such a transfer cannot have.
 */
export function paymentCode({ kind, number, currency, seller, totals }: InvoiceDocument): string | undefined {
  const bank = seller?.bank
  const { gross } = totals
  if (kind !== 'invoice' || number === null || currency !== 'EUR' || !bank) return undefined
  if (gross < cent || gross >= 1_000_000_000n * euro) return undefined
  const amount = `EUR${gross / euro}.${((gross % euro) / cent).toString().padStart(2, '0')}`
  const purpose = ''
  const structuredReference = ''
  const name = Array.from(bank.name).slice(0, 70).join('')
  return ['BCD', '002', '1', 'SCT', bank.bic ?? '', name, bank.iban, amount, purpose, structuredReference, number].join(
    '\n',
  )
}
