import { IconArrowLeft } from '@tabler/icons-react'
import { Link, useLoaderData } from 'react-router'
import type { RevisionList } from '../../../src/clients/schema.ts'
import { nouns } from '../../fields.ts'
import { Entry } from './entry.tsx'
import classes from './item.module.css'
import type { Item, ItemNoun } from './items.tsx'
import { Revisions } from './revisions.tsx'
import { useRecord } from './use-record.ts'

const itemNouns: readonly ItemNoun[] = [
  'note',
  'dispute',
  'letter',
  'document',
  'task',
  'contact',
  'time_entry',
  'expense',
]

/** One item with its versions. */
export function ItemPage() {
  const { id, status } = useRecord()
  const loaded = useLoaderData<{ item: Item; revisions: RevisionList; noun: string }>()
  const noun = itemNouns.find((each) => nouns[each].path === loaded.noun)
  if (!noun) return null
  const { many, path, fields } = nouns[noun]
  const { item } = loaded
  const address = `/clients/${id}/${path}/${item.id}`
  const canChange = status === 'active' && item.archived_at === null
  return (
    <div className={classes.item}>
      <Link to={`/clients/${id}/${path}`} className={classes.back} preventScrollReset>
        <IconArrowLeft size={15} aria-hidden />
        {`All ${many}`}
      </Link>
      <Entry noun={noun} item={item} alone />
      <Revisions
        fields={fields}
        list={loaded.revisions}
        address={`${address}/revisions`}
        restoring={canChange ? { address, fields, current: item } : undefined}
      />
    </div>
  )
}
