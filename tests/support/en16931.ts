import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { XmlDocument, XmlValidateError, XsdValidator, type XmlElement, type XmlNode } from 'libxml2-wasm'
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs'
import { parseMoney } from '../../src/billing/prices/money.ts'
import { decimalsOf } from '../../src/platform/text/currency.ts'

// What EN 16931 demands of an invoice as XML: the published schema of Factur-X 1.09 for the profile EN 16931, and the
// standard's rules for amounts, written down here because no package has the published Schematron rules.

const schemaFile = fileURLToPath(
  import.meta.resolve('@stackforge-eu/factur-x').replace(/dist\/.*$/, 'schema/en16931/FACTUR-X_EN16931.xsd'),
)

xmlRegisterFsInputProviders()

/** The schema's errors for a document. */
export function schemaFaults(xml: string): string[] {
  using schema = XmlDocument.fromBuffer(readFileSync(schemaFile), { url: schemaFile })
  using validator = XsdValidator.fromDoc(schema)
  using document = XmlDocument.fromString(xml)
  try {
    validator.validate(document)
    return []
  } catch (error) {
    if (!(error instanceof XmlValidateError)) throw error
    return error.details.map(({ message, line }) => `line ${line}: ${message.trim()}`)
  }
}

/** The rules for amounts that a document breaks, such as BR-CO-10, in order. It has no allowances, charges or prepayments. */
export function brokenRules(xml: string): string[] {
  using document = XmlDocument.fromString(xml)
  const { root } = document
  const [settlement] = under(root, '//ram:ApplicableHeaderTradeSettlement')
  const [sums] = under(root, '//ram:SpecifiedTradeSettlementHeaderMonetarySummation')
  if (!settlement || !sums) throw new Error('This is no invoice.')
  const lines = under(root, '//ram:SpecifiedLineTradeSettlement')
  const taxes = under(settlement, 'ram:ApplicableTradeTax')
  const [total, basis, tax, gross, due] = [
    amountAt(sums, 'ram:LineTotalAmount'),
    amountAt(sums, 'ram:TaxBasisTotalAmount'),
    amountAt(sums, 'ram:TaxTotalAmount'),
    amountAt(sums, 'ram:GrandTotalAmount'),
    amountAt(sums, 'ram:DuePayableAmount'),
  ]
  const unit = 10n ** BigInt(12 - decimalsOf(textAt(settlement, 'ram:InvoiceCurrencyCode') ?? ''))
  const net = (line: XmlElement) =>
    amountAt(line, 'ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount')
  const groupOf = (of: XmlElement, at: string) =>
    `${textAt(of, `${at}ram:CategoryCode`)} ${textAt(of, `${at}ram:RateApplicablePercent`)}`

  const kept: Readonly<Record<string, boolean>> = {
    'BR-CO-10': total === sum(lines.map(net)),
    'BR-CO-13': basis === total,
    'BR-CO-14': tax === sum(taxes.map((each) => amountAt(each, 'ram:CalculatedAmount'))),
    'BR-CO-15': gross === basis + tax,
    'BR-CO-16': due === gross,
    // The exact product, rounded to the minor unit of the currency.
    'BR-CO-17': taxes.every((each) => {
      const exact = amountAt(each, 'ram:BasisAmount') * percentAt(each)
      const off = amountAt(each, 'ram:CalculatedAmount') * hundred - exact
      return (off < 0n ? -off : off) * 2n <= unit * hundred
    }),
    // BR-S-08 and its like of the other categories.
    'BR-S-08': taxes.every((each) => {
      const own = lines.filter((line) => groupOf(line, 'ram:ApplicableTradeTax/') === groupOf(each, ''))
      return amountAt(each, 'ram:BasisAmount') === sum(own.map(net))
    }),
    // The product of two decimals, within less than one unit of any currency.
    'BR-S-09': taxes.every((each) => {
      const product =
        (amountAt(each, 'ram:BasisAmount') * percentAt(each) + hundred * halfCent) / (hundred * 2n * halfCent)
      const off = amountAt(each, 'ram:CalculatedAmount') - product * 2n * halfCent
      return (off < 0n ? -off : off) < parseMoney('1')
    }),
  }
  return Object.keys(kept).filter((rule) => kept[rule] === false)
}

/** One hundred per cent, as `percentAt` gives it. */
const hundred = parseMoney('100')
const halfCent = parseMoney('0.005')
const ram = { ram: 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100' }

const under = (from: XmlElement, query: string): XmlElement[] =>
  from.find(query, ram).filter((node: XmlNode): node is XmlElement => 'attrs' in node)
const textAt = (from: XmlElement, query: string): string | undefined => from.get(query, ram)?.content
const amountAt = (from: XmlElement, query: string): bigint => parseMoney(textAt(from, query) ?? '')
/** Absent outside the scope of tax. */
const percentAt = (from: XmlElement): bigint => parseMoney(textAt(from, 'ram:RateApplicablePercent') ?? '0')
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n)
