import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import type { Database } from '../../platform/database/database.ts'
import { today } from '../../platform/text/calendar.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { formatDecimal } from '../../platform/text/decimal.ts'
import { Problem } from '../../platform/problems.ts'
import { minorUnit } from '../arithmetic.ts'
import { postalAddress } from './client-details.ts'
import { readPayer, readUnbilledMonths } from './store.ts'
import { moneyWith } from '../present.ts'
import type { DraftOptions, DraftOptionsQuery } from '../schema.ts'
import type { InvoiceSettings } from '../settings.ts'
import { closeMonths, readUnbilledOf } from '../unbilled/store.ts'

interface DraftOptionsNeeds {
  readonly access: RecordAccess
  readonly database: Database
  readonly settings: InvoiceSettings
}

/** What a new draft can have, and what it would take from its payer. Throws Problem `invalid_field` for an unknown payer. */
export async function readDraftOptions(
  { access, database, settings }: DraftOptionsNeeds,
  visit: Visit,
  query: DraftOptionsQuery,
): Promise<DraftOptions> {
  const { currency, decimals, dueDays } = settings
  const taxes = [...settings.taxes].map(([id, { category, rate, reason }]) => ({
    id,
    category,
    rate: formatDecimal(BigInt(rate), 2),
    reason,
  }))
  const kind = query.client === undefined ? 'account' : 'client'
  const id = query.client ?? query.account
  const audited = { action: 'invoice_options_read', noun: 'invoice' }
  if (id === undefined) {
    await access.note(visit, audited)
    const none = { payer: null, buyer: null, days_to_pay: null, months: [], unbilled: null }
    return { currency, decimals, taxes, due_days: dueDays, ...none }
  }
  const [[payer]] = isUuid(id) ? await access.as(visit, [readPayer(kind, id)]) : [[]]
  if (payer === undefined) {
    return access.decline(visit, audited, new Problem('invalid_field', `No ${kind} has this id.`, { field: kind }))
  }
  await access.note(visit, { ...audited, details: { [kind]: id } })
  const months = kind === 'account' ? await readUnbilledMonths(database, id) : []
  const unbilled = kind === 'client' ? await readUnbilled(access, visit, { clientId: id, settings }) : null
  return {
    currency,
    decimals,
    taxes,
    payer: { kind, id: payer.id, name: payer.name },
    buyer: {
      name: payer.buyer_name,
      address: (payer.buyer_place && postalAddress(payer.buyer_place, settings)) ?? payer.buyer_address,
      tax_number: payer.buyer_tax_number,
      reference: payer.buyer_reference,
      order_number: payer.order_number,
    },
    days_to_pay: payer.days_to_pay,
    due_days: dueDays,
    months: months.map(({ month, cost }) => ({ month, cost: moneyWith(decimals)(cost) })),
    unbilled,
  }
}

interface ClientWork {
  readonly clientId: string
  readonly settings: InvoiceSettings
}

async function readUnbilled(
  access: RecordAccess,
  visit: Visit,
  { clientId, settings: { markup, decimals, timeZone } }: ClientWork,
): Promise<DraftOptions['unbilled']> {
  const until = today(timeZone)
  const filter = { until, markup, unit: minorUnit(decimals) }
  const [, [work]] = await access.as(visit, [closeMonths, readUnbilledOf(clientId, filter)])
  if (work === undefined || work.amount === null) return null
  return { until, items: work.items, amount: moneyWith(decimals)(work.amount) }
}
