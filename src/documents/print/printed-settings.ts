import type { Config } from '../../platform/config/config.ts'
import { commonCharacters, namedCharacters } from '../writing-thread.ts'

/** The settings whose texts are on every letter or invoice. */
function printedSettings({ firm, invoicing, drafting }: Config): [setting: string, text: string | undefined][] {
  return [
    ['firm.name', firm.name],
    ['firm.address', firm.address.join('\n')],
    ['firm.phone', firm.phone],
    ['firm.email', firm.email],
    ['firm.website', firm.website],
    ['firm.closing', firm.closing],
    ['invoicing.number', invoicing.number],
    ['invoicing.credit_note_number', invoicing.credit_note_number],
    ['invoicing.tax_number', invoicing.tax_number],
    ['invoicing.bank.name', invoicing.bank?.name],
    ...invoicing.tax.map(({ reason }, index): [string, string | undefined] => [
      `invoicing.tax[${index}].reason`,
      reason,
    ]),
    ['drafting.notice', drafting?.notice],
  ]
}

/** The settings that no PDF could show, because no font has their characters; null if there are none. */
export async function faultOfPrinting(config: Config): Promise<string | null> {
  const faults: string[] = []
  for (const [setting, text = ''] of printedSettings(config)) {
    if (commonCharacters.test(text)) continue
    const { charactersWithoutFont } = await import('../pdf/pdf-text.ts')
    const missing = charactersWithoutFont([text])
    if (missing.length > 0) faults.push(`${setting} (${namedCharacters(missing)})`)
  }
  if (faults.length === 0) return null
  return `PDFs of letters and invoices cannot be written: no font has some characters of ${faults.join(', ')}.`
}
