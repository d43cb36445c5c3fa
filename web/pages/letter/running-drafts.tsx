import { Link, useLoaderData } from 'react-router'
import { useRecord } from '../record/use-record.ts'
import classes from './letters.module.css'
import type { DraftList } from './wire.ts'

/** Links to the letters of the record that are being drafted. */
export function RunningDrafts() {
  const { id } = useRecord()
  const { drafts } = useLoaderData<DraftList>()
  return drafts
    .filter((draft) => draft.status === 'running')
    .map((draft) => (
      <p key={draft.id} className={classes.running}>
        A letter is being drafted. <Link to={`/clients/${id}/letters#draft:running:${draft.id}`}>Watch it</Link>
      </p>
    ))
}
