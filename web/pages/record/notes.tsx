import { InParts } from '../../components/in-parts.tsx'
import { content } from '../../content.ts'
import { today } from '../../zone.ts'
import { Items } from './items.tsx'
import { useRecord } from './use-record.ts'

export function Notes() {
  const { notes } = useRecord()
  const names = content.viewer ? [content.viewer.person.name] : []
  return (
    <InParts all={notes}>
      {(shown) => (
        <Items
          noun="note"
          items={shown}
          blank={{ date: today(), participants: names, text: '' }}
          startsAt="text"
          emptyText="Write down who attended the meeting, what was agreed and what happens next."
        />
      )}
    </InParts>
  )
}
