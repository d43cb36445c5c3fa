import { useEffect } from 'react'
import { Link, useLoaderData, useRevalidator } from 'react-router'
import { useLive } from '../../components/live.ts'
import { useRecord } from '../record/use-record.ts'
import classes from './letters.module.css'
import type { DraftList } from './wire.ts'

/** ms between two looks at the drafts that are running. */
const pause = 3000

/** Links to the letters of the record that are being drafted. */
export function RunningDrafts() {
  const loaded = useLoaderData<DraftList>()
  return runningIn(loaded).length > 0 && <Running loaded={loaded} />
}

/** Looks again until a draft has ended, and then reloads the page, which has the finished letter. */
function Running({ loaded }: { readonly loaded: DraftList }) {
  const { id } = useRecord()
  const { revalidate } = useRevalidator()
  const { data } = useLive(`/clients/${id}/drafts`, loaded, pause)
  const running = runningIn(data)
  const hasEnded = running.length < runningIn(loaded).length
  useEffect(() => {
    if (hasEnded) void revalidate()
  }, [hasEnded, revalidate])
  return running.map((draft) => (
    <p key={draft.id} className={classes.running}>
      A letter is being drafted. <Link to={`/clients/${id}/letters#draft:running:${draft.id}`}>Watch it</Link>
    </p>
  ))
}

const runningIn = ({ drafts }: DraftList) => drafts.filter((draft) => draft.status === 'running')
