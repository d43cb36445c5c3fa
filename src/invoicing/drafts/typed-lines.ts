import { formatDecimal, parseDecimal } from '../../platform/text/decimal.ts'
import { closest } from '../../platform/text/closest.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { Problem } from '../../platform/problems.ts'
import { lineAmounts, type Tax } from '../arithmetic.ts'
import type { NewLine, Unit } from '../schema.ts'
import type { InvoiceSettings } from '../settings.ts'
import { priceBase, priceDecimals } from '../document.ts'
import type { LooseLine } from './usage-lines.ts'

/** Decimals of quantities and of prices. */
const typedDecimals = 6
const million = 10n ** BigInt(typedDecimals)
const mostQuantity = 10n ** 9n * million
const mostPrice = 10n ** 12n * million

/** The lines that a person typed. Throws Problem `invalid_field`. */
export function typedLines(lines: readonly NewLine[], settings: InvoiceSettings): LooseLine[] {
  return lines.map(({ text, quantity, unit, unit_price: price, tax }, index) => {
    const at = `lines[${index}]`
    const amounts = {
      quantity: quantityIn(quantity, `${at}.quantity`, mostQuantity),
      unitPrice: priceIn(price, `${at}.unit_price`, unit),
    }
    return {
      source: 'fee',
      text,
      unit,
      ...amounts,
      ...lineAmounts(amounts.quantity, amounts.unitPrice, settings.decimals, priceBase(unit)),
      tax: taxIn(tax, `${at}.tax`, settings),
      model: null,
      direction: null,
      creditsPosition: null,
    }
  })
}

/** A quantity above zero, in 10⁻⁶. Throws Problem `invalid_field`. */
export function quantityIn(text: string, field: string, most: bigint): bigint {
  return numberIn(text, field, { least: 1n, most })
}

function priceIn(text: string, field: string, unit: Unit): bigint {
  const price = numberIn(text, field, { least: 0n, most: mostPrice })
  return price * 10n ** BigInt(priceDecimals(unit) - typedDecimals)
}

function numberIn(text: string, field: string, { least, most }: { least: bigint; most: bigint }): bigint {
  const number = readDecimal(text, field)
  if (number >= least && number <= most) return number
  const lower = least === 0n ? 'must not be negative' : 'must be above 0'
  const reason = number > most ? `must be at most ${formatDecimal(most, typedDecimals)}` : lower
  throw new Problem('invalid_field', `The field ${field} ${reason}.`, { field })
}

function readDecimal(text: string, field: string): bigint {
  try {
    return parseDecimal(text, typedDecimals)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Problem('invalid_field', `The field ${field} ${error.message}.`, { field })
  }
}

/** The tax of the configuration with this id; without one, the first. */
export function taxIn(id: string | undefined, field: string, { taxes }: InvoiceSettings): Tax {
  const [first] = taxes.values()
  const tax = id === undefined ? first : taxes.get(id)
  if (tax !== undefined) return tax
  const near = closest(id ?? '', [...taxes.keys()])
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new Problem('invalid_field', `The configuration has no tax named ${quoted(id ?? '')}.${hint}`, { field })
}
