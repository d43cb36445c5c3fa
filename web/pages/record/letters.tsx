import { Items } from './items.tsx'
import { useRecord } from './use-record.ts'

export function Letters() {
  const { letters } = useRecord()
  return (
    <Items
      noun="letter"
      items={letters}
      blank={{ subject: '', status: 'draft', body: '' }}
      emptyText="Draft letters here, get them approved, and keep the ones you sent."
    />
  )
}
