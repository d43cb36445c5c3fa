import { formatDecimal } from '../../platform/text/decimal.ts'
import type { Tax, TaxGroup } from '../arithmetic.ts'
import { countryOfLine, countryOfVatId, isVatId } from '../../platform/text/country.ts'
import { countIn, priceBase, shownPrice, type InvoiceDocument, type InvoiceLine, type Supply } from '../document.ts'
import { moneyWith } from '../present.ts'
import type { Unit } from '../schema.ts'
import type { Seller } from '../settings.ts'

/**
 * An invoice for programs: Cross Industry Invoice (UN/CEFACT CII) with the content of EN 16931, as Factur-X and ZUGFeRD
 * embed it. The comments name the business terms of the standard. The elements are in the order of the schema.
 */
export function invoiceXml(document: InvoiceDocument): string {
  const { number, kind, issuedOn, note, lines } = document
  const root = element(
    'rsm:CrossIndustryInvoice',
    [
      element('rsm:ExchangedDocumentContext', [
        element('ram:GuidelineSpecifiedDocumentContextParameter', [textElement('ram:ID', 'urn:cen.eu:en16931:2017')]),
      ]),
      element('rsm:ExchangedDocument', [
        textElement('ram:ID', number ?? ''),
        // BT-3, UNTDID 1001.
        textElement('ram:TypeCode', kind === 'invoice' ? '380' : '381'),
        element('ram:IssueDateTime', [dateTime(issuedOn ?? '')]),
        note === '' ? '' : element('ram:IncludedNote', [textElement('ram:Content', note)]),
      ]),
      element('rsm:SupplyChainTradeTransaction', [
        ...lines.map((line) => lineElement(line, document)),
        agreement(document),
        delivery(document),
        settlement(document),
      ]),
    ],
    namespaces,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`
}

const namespaces = {
  'xmlns:rsm': 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
  'xmlns:ram': 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
  'xmlns:udt': 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
}

/** A day as CCYYMMDD. */
const dateTime = (day: string): string => textElement('udt:DateTimeString', day.replaceAll('-', ''), { format: '102' })

/** UN/ECE Recommendation 20. Tokens are pieces, and their price is for a million of them; images and searches likewise, for a thousand. */
const unitCodes: Readonly<Record<Unit, string>> = {
  hour: 'HUR',
  day: 'DAY',
  month: 'MON',
  piece: 'C62',
  kilometre: 'KMT',
  million_tokens: 'C62',
  minute: 'MIN',
  lump_sum: 'LS',
  thousand_uses: 'C62',
}

/** BT-149: for how many the price is. */
const priceBases: Readonly<Partial<Record<Unit, bigint>>> = {
  million_tokens: countIn('million_tokens'),
  minute: priceBase('minute'),
  thousand_uses: countIn('thousand_uses'),
}

function lineElement(line: InvoiceLine, { decimals }: InvoiceDocument): string {
  const { position, text, quantity, unit, tax, net } = line
  const unitCode = unitCodes[unit]
  const base = priceBases[unit]
  return element('ram:IncludedSupplyChainTradeLineItem', [
    element('ram:AssociatedDocumentLineDocument', [textElement('ram:LineID', String(position))]),
    element('ram:SpecifiedTradeProduct', [textElement('ram:Name', text)]),
    element('ram:SpecifiedLineTradeAgreement', [
      element('ram:NetPriceProductTradePrice', [
        textElement('ram:ChargeAmount', formatDecimal(shownPrice(line), 6)),
        base === undefined ? '' : textElement('ram:BasisQuantity', String(base), { unitCode }),
      ]),
    ]),
    element('ram:SpecifiedLineTradeDelivery', [
      textElement('ram:BilledQuantity', formatDecimal(quantity * countIn(unit), 6), { unitCode }),
    ]),
    element('ram:SpecifiedLineTradeSettlement', [
      element('ram:ApplicableTradeTax', [textElement('ram:TypeCode', 'VAT'), ...categoryElements(tax)]),
      element('ram:SpecifiedTradeSettlementLineMonetarySummation', [
        textElement('ram:LineTotalAmount', moneyIn(decimals)(net)),
      ]),
    ]),
  ])
}

/** Outside the scope of tax (O), a rate is not allowed (BR-O-05). */
function categoryElements({ category, rate }: Tax): string[] {
  const percent = textElement('ram:RateApplicablePercent', formatDecimal(BigInt(rate), 2))
  return [textElement('ram:CategoryCode', category), category === 'O' ? '' : percent]
}

function agreement({ seller, buyer, lines }: InvoiceDocument): string {
  const isOutsideScope = lines.some(({ tax }) => tax.category === 'O')
  return element('ram:ApplicableHeaderTradeAgreement', [
    buyer.reference === null ? '' : textElement('ram:BuyerReference', buyer.reference),
    seller === null ? '' : sellerElement(seller, isOutsideScope),
    buyerElement(buyer, isOutsideScope, seller),
    buyer.orderNumber === null
      ? ''
      : element('ram:BuyerOrderReferencedDocument', [textElement('ram:IssuerAssignedID', buyer.orderNumber)]),
  ])
}

/** Outside the scope of tax, VAT numbers are not allowed (BR-O-02), so the number only identifies the party. */
function sellerElement(seller: Seller, isOutsideScope: boolean): string {
  const { name, address, email, phone, tax_number: taxNumber, bank } = seller
  const isVat = isVatId(taxNumber) && !isOutsideScope
  const isOther = taxNumber !== null && !isVatId(taxNumber)
  return element('ram:SellerTradeParty', [
    // BT-29: BR-CO-26 demands an identifier.
    isVat ? '' : textElement('ram:ID', taxNumber ?? bank?.iban ?? name),
    textElement('ram:Name', name),
    contactElement(email, phone),
    element('ram:PostalTradeAddress', [...addressLines(address), textElement('ram:CountryID', countryOf(seller))]),
    email === null
      ? ''
      : element('ram:URIUniversalCommunication', [textElement('ram:URIID', email, { schemeID: 'EM' })]),
    // BT-31 and BT-32.
    isVat ? registration(taxNumber, 'VA') : isOther ? registration(taxNumber, 'FC') : '',
  ])
}

function registration(taxNumber: string, schemeID: 'VA' | 'FC'): string {
  const id = schemeID === 'VA' ? taxNumber.replaceAll(' ', '') : taxNumber
  return element('ram:SpecifiedTaxRegistration', [textElement('ram:ID', id, { schemeID })])
}

function contactElement(email: string | null, phone: string | null): string {
  if (email === null && phone === null) return ''
  return element('ram:DefinedTradeContact', [
    phone === null ? '' : element('ram:TelephoneUniversalCommunication', [textElement('ram:CompleteNumber', phone)]),
    email === null ? '' : element('ram:EmailURIUniversalCommunication', [textElement('ram:URIID', email)]),
  ])
}

/** The code for a country that is not known. */
const unknownCountry = 'ZZ'

/** What an invoice that was issued before the country was kept has as its country. */
function countryOf({ country, tax_number: taxNumber, bank }: Seller): string {
  return country ?? countryOfVatId(taxNumber ?? '') ?? bank?.iban.slice(0, 2) ?? unknownCountry
}

function buyerElement(buyer: InvoiceDocument['buyer'], isOutsideScope: boolean, seller: Seller | null): string {
  const { name, taxNumber } = buyer
  const isVat = isVatId(taxNumber) && !isOutsideScope
  const { lines, postcode, city, country } = placeOf(buyer, seller)
  return element('ram:BuyerTradeParty', [
    // BT-46, and BT-48 below.
    isVat || taxNumber === null ? '' : textElement('ram:ID', taxNumber),
    textElement('ram:Name', name),
    element('ram:PostalTradeAddress', [
      postcode === null ? '' : textElement('ram:PostcodeCode', postcode),
      ...addressLines(lines),
      city === null ? '' : textElement('ram:CityName', city),
      textElement('ram:CountryID', country),
    ]),
    isVat ? registration(taxNumber, 'VA') : '',
  ])
}

/** The last line of an address that is not in parts names its country, unless that is the country of the sender. */
function placeOf({ address, place, taxNumber }: InvoiceDocument['buyer'], seller: Seller | null) {
  if (place !== null) {
    const { street, extra, postcode, city, country } = place
    return {
      lines: [street, extra].filter((line) => line !== null),
      postcode,
      city,
      country: country ?? homeOf(seller),
    }
  }
  const lines = (address ?? '').split('\n').filter((line) => line.trim() !== '')
  const named = countryOfLine(lines.at(-1) ?? '', seller?.locale ?? 'en')
  const country = named ?? countryOfVatId(taxNumber ?? '') ?? homeOf(seller)
  return { lines: named === undefined ? lines : lines.slice(0, -1), postcode: null, city: null, country }
}

const homeOf = (seller: Seller | null): string => (seller === null ? unknownCountry : countryOf(seller))

/** At most three, so the last one has the rest. */
function addressLines(lines: readonly string[]): string[] {
  const [one, two, ...rest] = lines
  return [
    one === undefined ? '' : textElement('ram:LineOne', one),
    two === undefined ? '' : textElement('ram:LineTwo', two),
    rest.length === 0 ? '' : textElement('ram:LineThree', rest.join(', ')),
  ]
}

/** The day of supply (BT-72); for goods to another country of the European Union (K) also where to (BR-IC-11 and BR-IC-12). */
function delivery(document: InvoiceDocument): string {
  const { lines, buyer, seller, supply, issuedOn } = document
  const isToUnion = lines.some(({ tax }) => tax.category === 'K')
  const day = supply?.from ?? (isToUnion ? issuedOn : null)
  const date = element('ram:OccurrenceDateTime', [dateTime(day ?? '')])
  const { country } = placeOf(buyer, seller)
  return element('ram:ApplicableHeaderTradeDelivery', [
    isToUnion
      ? element('ram:ShipToTradeParty', [element('ram:PostalTradeAddress', [textElement('ram:CountryID', country)])])
      : '',
    periodOf(document) === undefined && day !== null ? element('ram:ActualDeliverySupplyChainEvent', [date]) : '',
  ])
}

/** The days of supply if they are more than one (BG-14). */
function periodOf({ month, supply }: InvoiceDocument): Supply | undefined {
  if (month !== null) {
    const first = Temporal.PlainDate.from(month)
    return { from: first.toString(), to: first.add({ months: 1 }).subtract({ days: 1 }).toString() }
  }
  return supply === null || supply.from === supply.to ? undefined : supply
}

function settlement(document: InvoiceDocument): string {
  const { kind, number, currency, decimals, seller, dueOn, creditsNumber, totals } = document
  const period = periodOf(document)
  const money = moneyIn(decimals)
  const isInvoice = kind === 'invoice'
  return element('ram:ApplicableHeaderTradeSettlement', [
    isInvoice ? textElement('ram:PaymentReference', number ?? '') : '',
    textElement('ram:InvoiceCurrencyCode', currency),
    isInvoice && seller?.bank ? paymentMeans(seller.bank, currency) : '',
    ...totals.taxes.map((group) => taxElement(group, money)),
    period === undefined ? '' : periodElement(period),
    isInvoice && dueOn !== null
      ? element('ram:SpecifiedTradePaymentTerms', [element('ram:DueDateDateTime', [dateTime(dueOn)])])
      : '',
    element('ram:SpecifiedTradeSettlementHeaderMonetarySummation', [
      textElement('ram:LineTotalAmount', money(totals.net)),
      textElement('ram:TaxBasisTotalAmount', money(totals.net)),
      textElement('ram:TaxTotalAmount', money(totals.tax), { currencyID: currency }),
      textElement('ram:GrandTotalAmount', money(totals.gross)),
      textElement('ram:DuePayableAmount', money(totals.gross)),
    ]),
    creditsNumber === null
      ? ''
      : element('ram:InvoiceReferencedDocument', [textElement('ram:IssuerAssignedID', creditsNumber)]),
  ])
}

/** UNTDID 4461: 58 is a SEPA credit transfer, 30 another one. */
function paymentMeans({ name, iban, bic }: NonNullable<Seller['bank']>, currency: string): string {
  return element('ram:SpecifiedTradeSettlementPaymentMeans', [
    textElement('ram:TypeCode', currency === 'EUR' ? '58' : '30'),
    element('ram:PayeePartyCreditorFinancialAccount', [
      textElement('ram:IBANID', iban),
      textElement('ram:AccountName', name),
    ]),
    bic === null ? '' : element('ram:PayeeSpecifiedCreditorFinancialInstitution', [textElement('ram:BICID', bic)]),
  ])
}

/** At most two decimals are allowed (BR-DEC-09 and its like), unless an amount has more. */
const moneyIn = (decimals: number) => moneyWith(Math.min(decimals, 2))

function taxElement(group: TaxGroup, money: (amount: bigint) => string): string {
  return element('ram:ApplicableTradeTax', [
    textElement('ram:CalculatedAmount', money(group.tax)),
    textElement('ram:TypeCode', 'VAT'),
    group.reason === null ? '' : textElement('ram:ExemptionReason', group.reason),
    textElement('ram:BasisAmount', money(group.net)),
    ...categoryElements(group),
  ])
}

function periodElement({ from, to }: Supply): string {
  return element('ram:BillingSpecifiedPeriod', [
    element('ram:StartDateTime', [dateTime(from)]),
    element('ram:EndDateTime', [dateTime(to)]),
  ])
}

type Attributes = Readonly<Record<string, string>>

function element(name: string, children: readonly string[], attributes: Attributes = {}): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`)
  return `<${name}${given.join('')}>${children.join('')}</${name}>`
}

function textElement(name: string, text: string, attributes: Attributes = {}): string {
  return element(name, [escapeXml(text)], attributes)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Without the characters that XML 1.0 does not have, not even escaped. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
}
