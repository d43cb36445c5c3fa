import { InParts } from '../../components/in-parts.tsx'
import { Items } from './items.tsx'
import { useRecord } from './use-record.ts'

export function Disputes() {
  const { disputes } = useRecord()
  return (
    <InParts all={disputes}>
      {(shown) => (
        <Items
          noun="dispute"
          items={shown}
          blank={{ invoice: '', amount: '', status: 'open', due: '', position: '' }}
          emptyText="Record which invoice the client disputes, the amount, and the position of both sides."
        />
      )}
    </InParts>
  )
}
