import { paperOf } from '../../documents/document.ts'
import type { InvoicePaper, PaperFact, PaperLine, PaperPayment } from '../../documents/invoice-paper.ts'
import { today } from '../../platform/text/calendar.ts'
import { localeIn } from '../../platform/text/languages.ts'
import { standardFault } from '../issue/european-union.ts'
import { countIn, shownPrice, type InvoiceDocument, type InvoiceLine, type Supply } from '../document.ts'
import { invoiceXml } from './invoice-xml.ts'
import { invoiceNumbers, type InvoiceNumbers } from './numbers.ts'
import { paymentCode } from './payment-code.ts'
import type { InvoiceSettings, Seller } from '../settings.ts'
import { invoiceWords } from './words.ts'

type Words = ReturnType<typeof invoiceWords>
type PaperSettings = Pick<InvoiceSettings, 'locale' | 'seller' | 'timeZone'>

/** An issued invoice on paper depends on what was frozen with it alone; a draft has the letterhead of today. */
export function invoicePaper(document: InvoiceDocument, settings: PaperSettings): InvoicePaper {
  const seller = document.seller ?? settings.seller
  const locale = document.seller?.locale ?? localeIn(document.language, settings.locale)
  const words = invoiceWords(locale)
  const numbers = invoiceNumbers(locale, document.currency, document.decimals)
  const { kind, number, buyer, issuedOn } = document
  const name = kind === 'invoice' ? words.invoice : words.creditNote
  return {
    letterhead: letterheadOf(seller),
    recipient: recipientOf(buyer),
    title: number === null ? `${name} – ${words.draft}` : `${name} ${number}`,
    mark: number === null ? words.draft : undefined,
    facts: factsOf(document, words, numbers),
    headings: {
      position: '#',
      text: words.text,
      quantity: words.quantity,
      price: words.price,
      tax: words.tax,
      net: words.amount(document.currency),
    },
    lines: document.lines.map((line) => lineOf(line, words, numbers)),
    totals: totalsOf(document, words, numbers),
    remarks: hasRounding(document) ? [words.rounded(numbers.money(document.totals.rounding))] : [],
    note: document.note,
    payment: paymentOf(document, words, numbers),
    foot: footOf(seller, words),
    language: locale,
    paper: paperOf(locale),
    createdAt: new Date(`${issuedOn ?? today(settings.timeZone)}T00:00:00Z`),
    xml: standardFault(document) === undefined ? invoiceXml(document) : undefined,
  }
}

/** Only usage is rounded from prices that its reader knows. Invoices from before the days of supply were kept stay as they are. */
function hasRounding({ month, number, supply, totals }: InvoiceDocument): boolean {
  return totals.rounding !== 0n && (month !== null || (number !== null && supply === null))
}

function letterheadOf(seller: Seller | undefined): InvoicePaper['letterhead'] {
  return {
    name: seller?.name,
    address: seller?.address ?? [],
    phone: seller?.phone ?? undefined,
    email: seller?.email ?? undefined,
    website: seller?.website ?? undefined,
  }
}

const recipientOf = ({ name, address }: InvoiceDocument['buyer']) =>
  [name, ...(address ?? '').split('\n')].filter((line) => line.trim() !== '')

function factsOf(document: InvoiceDocument, words: Words, { day, month }: InvoiceNumbers): PaperFact[] {
  const { kind, issuedOn, dueOn, month: billed, creditsNumber, buyer, supply } = document
  const facts: [name: string, value: string | null][] = [
    [words.date, issuedOn && day(issuedOn)],
    [words.due, kind === 'invoice' ? dueOn && day(dueOn) : null],
    [words.corrects, creditsNumber],
    [words.period, billed && month(billed)],
    ...(billed === null && supply !== null ? [supplyFact(supply, words, day)] : []),
    [words.buyerTaxNumber, buyer.taxNumber],
    [words.buyerReference, buyer.reference],
    [words.orderNumber, buyer.orderNumber],
  ]
  return facts.flatMap(([name, value]) => (value === null ? [] : { name, value }))
}

function supplyFact({ from, to }: Supply, words: Words, day: InvoiceNumbers['day']): [name: string, value: string] {
  return from === to ? [words.supply, day(from)] : [words.period, `${day(from)} – ${day(to)}`]
}

function lineOf(line: InvoiceLine, words: Words, { amount, decimal, rate }: InvoiceNumbers): PaperLine {
  const { position, text, quantity, unit, tax, net } = line
  const count = quantity * countIn(unit)
  return {
    position: String(position),
    text,
    quantity: words.unit(decimal(count, 0), unit),
    price: words.pricePer(decimal(shownPrice(line), 2), unit),
    tax: tax.category === 'O' ? '–' : rate(tax.rate),
    net: amount(net),
  }
}

function totalsOf({ totals }: InvoiceDocument, words: Words, { amount, money, rate }: InvoiceNumbers): PaperFact[] {
  const taxes = totals.taxes.map(({ reason, rate: percent, net, tax }) => ({
    name: reason === null ? words.taxed(rate(percent), amount(net)) : words.untaxed(reason, amount(net)),
    value: amount(tax),
  }))
  return [{ name: words.net, value: amount(totals.net) }, ...taxes, { name: words.total, value: money(totals.gross) }]
}

function paymentOf(document: InvoiceDocument, words: Words, { money, day }: InvoiceNumbers): PaperPayment | undefined {
  const { kind, number, dueOn, seller, totals } = document
  if (kind !== 'invoice' || number === null || dueOn === null || totals.gross === 0n) return undefined
  const content = paymentCode(document)
  return {
    request: words.request(money(totals.gross), day(dueOn), number),
    facts: accountOf(seller?.bank ?? null, number, words),
    code: content === undefined ? undefined : { content, caption: words.code },
  }
}

function accountOf(bank: Seller['bank'], number: string, words: Words): PaperFact[] {
  if (bank === null) return []
  return [
    { name: words.holder, value: bank.name },
    { name: 'IBAN', value: inGroups(bank.iban) },
    ...(bank.bic === null ? [] : [{ name: 'BIC', value: bank.bic }]),
    { name: words.reference, value: number },
  ]
}

/** An IBAN is read in groups of four. */
const inGroups = (iban: string) => iban.replaceAll(/(.{4})(?=.)/g, '$1 ')

function footOf(seller: Seller | undefined, words: Words): string {
  if (seller === undefined) return ''
  const taxNumber = seller.tax_number === null ? [] : [`${words.sellerTaxNumber} ${seller.tax_number}`]
  return [seller.name, ...taxNumber].join(' · ')
}
