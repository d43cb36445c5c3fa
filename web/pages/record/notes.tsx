import { content } from '../../content.ts'
import { Items } from './items.tsx'
import { useRecord } from './use-record.ts'

export function Notes() {
  const { notes } = useRecord()
  const names = content.viewer ? [content.viewer.person.name] : []
  return (
    <Items
      noun="note"
      items={notes}
      blank={{ date: today(), participants: names, text: '' }}
      emptyText="Write down who attended the meeting, what was agreed and what happens next."
    />
  )
}

/** Today in the person's time zone, as `2026-03-12`. */
function today(): string {
  return new Intl.DateTimeFormat('sv-SE').format(new Date())
}
