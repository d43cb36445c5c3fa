import type { ReactNode } from 'react'
import { Day } from '../../components/time.tsx'
import { moneyText } from '../../money.ts'
import { disputeStatusNames, letterStatusNames } from '../../words.ts'
import type { Item } from './items.tsx'

export interface Summary {
  readonly title: ReactNode
  readonly badge?: { readonly text: string; readonly color: string }
  readonly aside: string
  readonly text: string
}

const disputeColors = { open: 'orange', settled: 'teal', withdrawn: 'gray' } as const
const letterColors = { draft: 'gray', approved: 'harbour', sent: 'teal' } as const

/** A note, dispute or letter in brief. */
export function summaryOf(item: Item): Summary {
  if ('participants' in item) {
    return { title: <Day date={item.date} />, aside: item.participants.join(', '), text: item.text }
  }
  if ('invoice' in item) {
    const badge = { text: disputeStatusNames[item.status], color: disputeColors[item.status] }
    return {
      title: `Invoice ${item.invoice}`,
      badge,
      aside: moneyText(item.amount, item.currency),
      text: item.position,
    }
  }
  const badge = { text: letterStatusNames[item.status], color: letterColors[item.status] }
  return { title: item.subject, badge, aside: '', text: item.body }
}
