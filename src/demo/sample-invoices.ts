import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { createInvoices } from '../invoicing/invoices.ts'
import { invoiceSettings } from '../invoicing/settings.ts'
import { dayBefore, timeBefore, type SampleStep } from './sample-dates.ts'
import { enterUsage, type UsageNeeds } from './sample-usage.ts'
import { readSampleInvoices } from './samples-file.ts'

interface InvoiceSamplesNeeds extends UsageNeeds {
  readonly access: RecordAccess
  /** A partner. */
  readonly visit: Visit
  /** By their references, as soon as they are entered. */
  readonly clientIds: ReadonlyMap<string, string>
}

/**
 * Enters the use of accounts, and returns the steps that enter invoices: drafts, open, overdue and paid ones to clients, and a draft for
 * the last month of an account.
 */
export async function invoiceSteps(needs: InvoiceSamplesNeeds): Promise<SampleStep[]> {
  const { access, database, config, visit, clientIds } = needs
  const now = new Date()
  let issueDay = ''
  const invoices = createInvoices({
    access,
    database,
    settings: invoiceSettings(config),
    // The fonts have the characters of the samples.
    unprintable: async () => [],
    issueDay: () => issueDay,
  })
  const steps: SampleStep[] = []
  for (const { client, ago, status, paid_ago: paidAgo = 1, lines } of await readSampleInvoices(now)) {
    let id = ''
    steps.push({
      at: timeBefore(now, ago, 410),
      async take() {
        ;({ id } = await invoices.create(visit, { client: clientIds.get(client) ?? '', lines }))
        issueDay = dayBefore(now, ago)
        if (status !== 'draft') await invoices.issue(visit, id, null)
      },
    })
    if (status !== 'paid') continue
    steps.push({
      at: timeBefore(now, paidAgo, 65),
      async take() {
        const { open } = await invoices.read(visit, id)
        await invoices.pay(visit, id, { date: dayBefore(now, paidAgo), amount: open })
      },
    })
  }
  // Committed at once, and before the steps: their transaction keeps locks on the audit log.
  const [account] = await enterUsage(needs)
  if (account === undefined) return steps
  const take = async () => void (await invoices.create(visit, { account, month: lastMonth(now) }))
  return [...steps, { at: now, take }]
}

/** The last month that has been over for more than an hour (UTC), such as `2026-03`. */
function lastMonth(now: Date): string {
  const at = Temporal.Instant.fromEpochMilliseconds(now.getTime()).subtract({ hours: 2 }).toZonedDateTimeISO('UTC')
  return at.toPlainDate().toPlainYearMonth().subtract({ months: 1 }).toString()
}
