import { useState } from 'react'
import { TaskOffer } from '../tasks/task-offer.tsx'
import { useSaved, type Saved } from './saved.ts'
import { useRecord } from './use-record.ts'

/** What usually follows after something was saved on the record. Nothing of it happens by itself. */
export function Offers() {
  const { id, status } = useRecord()
  const saved = useSaved(id)
  const [answered, setAnswered] = useState<Saved>()
  if (saved === undefined || saved === answered || status === 'archived') return null
  return <TaskOffer key={saved.item.id + saved.item.version} saved={saved} onClose={() => setAnswered(saved)} />
}
