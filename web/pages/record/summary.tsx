import type { ReactNode } from 'react'
import type { Dispute, Expense, TimeEntry } from '../../../src/clients/schema.ts'
import { Day } from '../../components/time.tsx'
import { durationText } from '../../duration.ts'
import { dateText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { sizeText } from '../../size.ts'
import { disputeStatusNames, letterStatusNames } from '../../words.ts'
import { Reach } from '../contacts/reach.tsx'
import { taskAside, taskBadge } from '../tasks/words.ts'
import type { Item } from './items.tsx'

export interface Summary {
  readonly title: ReactNode
  readonly badge?: { readonly text: string; readonly color: string }
  readonly aside: ReactNode
  readonly text: string
}

const disputeColors = { open: 'orange', settled: 'teal', withdrawn: 'gray' } as const
const letterColors = { draft: 'gray', approved: 'harbour', sent: 'teal' } as const

/** An item in brief. */
export function summaryOf(item: Item): Summary {
  if ('billable' in item) return summaryOfEntry(item)
  if ('participants' in item) {
    return { title: <Day date={item.date} />, aside: item.participants.join(', '), text: item.text }
  }
  if ('invoice' in item) {
    const badge = { text: disputeStatusNames[item.status], color: disputeColors[item.status] }
    return {
      title: `Invoice ${item.invoice}`,
      badge,
      aside: [moneyText(item.amount, item.currency), deadlineOf(item)].filter(Boolean).join(' · '),
      text: item.position,
    }
  }
  if ('priority' in item) {
    const badge = taskBadge(item)
    return { title: item.title, ...(badge && { badge }), aside: taskAside(item), text: '' }
  }
  if ('phone' in item) return { title: <bdi>{item.name}</bdi>, aside: <Reach contact={item} />, text: '' }
  if ('digest' in item) return { title: item.name, aside: sizeText(item.bytes), text: '' }
  const badge = { text: letterStatusNames[item.status], color: letterColors[item.status] }
  return { title: item.subject, badge, aside: '', text: item.body }
}

function summaryOfEntry(item: TimeEntry | Expense): Summary {
  const money = (amount: string) => moneyText(amount, item.currency)
  const work = 'minutes' in item ? [`${durationText(item.minutes)} × ${money(item.rate)}/h`] : []
  return {
    title: <Day date={item.date} />,
    ...(!item.billable && { badge: { text: 'Not billable', color: 'gray' } }),
    aside: [...work, money(item.amount)].join(' · '),
    text: item.text,
  }
}

/** The deadline of an open dispute. */
function deadlineOf({ status, due }: Dispute): string {
  return status === 'open' && due !== null ? `deadline ${dateText(due)}` : ''
}
