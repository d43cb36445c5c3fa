import { Items } from './items.tsx'
import { useRecord } from './use-record.ts'

export function Disputes() {
  const { disputes } = useRecord()
  return (
    <Items
      noun="dispute"
      items={disputes}
      blank={{ invoice: '', amount: '', status: 'open', position: '' }}
      emptyText="When the client does not agree with an invoice, keep here what is in dispute and where it stands."
    />
  )
}
