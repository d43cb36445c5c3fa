import { useLoaderData } from 'react-router'
import type { ExpenseList, TimeEntryList } from '../../../src/clients/schema.ts'
import { More } from '../../components/more.tsx'
import { moneyText } from '../../money.ts'
import { today } from '../../zone.ts'
import { Items } from './items.tsx'
import { Totals } from './totals.tsx'

/** The time that people worked for the client, the latest day first. */
export function TimeTab() {
  const list = useLoaderData<TimeEntryList>()
  return (
    <More
      first={list.time_entries}
      next={list.next}
      pick={(page: TimeEntryList) => page.time_entries}
      idOf={({ id }) => id}
    >
      {(entries) => (
        <>
          <Totals totals={list.totals} />
          <Items
            noun="time_entry"
            items={entries}
            blank={{ date: today(), minutes: '', text: '', rate: '', billable: 'true' }}
            placeholders={{ rate: rateHint(list) }}
            startsAt="minutes"
            emptyText="Enter the time that you work for this client. An invoice to the client can bill it."
          />
        </>
      )}
    </More>
  )
}

/** What an empty rate stands for; an example if it has to be filled in. */
function rateHint({ default_rate: rate, totals }: TimeEntryList): string {
  return typeof rate === 'string' && totals ? `Default: ${moneyText(rate, totals.currency)}` : '150.00'
}

/** Expenses that the firm paid for the client, latest day first. */
export function ExpensesTab() {
  const list = useLoaderData<ExpenseList>()
  return (
    <More first={list.expenses} next={list.next} pick={(page: ExpenseList) => page.expenses} idOf={({ id }) => id}>
      {(entries) => (
        <>
          <Totals totals={list.totals} />
          <Items
            noun="expense"
            items={entries}
            blank={{ date: today(), amount: '', text: '', tax: '', billable: 'true' }}
            startsAt="amount"
            emptyText="Enter what the firm pays for this client, such as fees and travel. An invoice to the client can bill it."
          />
        </>
      )}
    </More>
  )
}
