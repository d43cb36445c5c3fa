import { useState } from 'react'
import { TaskOffer } from '../tasks/task-offer.tsx'
import { useSaved, type Saved } from './saved.ts'
import { TimeOffer } from './time-offer.tsx'
import { useRecord } from './use-record.ts'

/** What usually follows after something was saved on the record. Nothing of it happens by itself. */
export function Offers() {
  const { id, status } = useRecord()
  const saved = useSaved(id)
  if (saved === undefined || status === 'archived') return null
  return <Both key={`${saved.item.id} ${saved.item.version}`} saved={saved} />
}

function Both({ saved }: { readonly saved: Saved }) {
  const [hasTask, setHasTask] = useState(true)
  const [hasTime, setHasTime] = useState(true)
  return (
    <>
      {hasTask && <TaskOffer saved={saved} onClose={() => setHasTask(false)} />}
      {hasTime && <TimeOffer saved={saved} onClose={() => setHasTime(false)} />}
    </>
  )
}
