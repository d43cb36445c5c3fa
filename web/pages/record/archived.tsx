import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { read } from '../../api.ts'
import { More } from '../../components/more.tsx'
import { notifyFailure } from '../../components/notify.ts'
import { nouns } from '../../fields.ts'
import { Entry } from './entry.tsx'
import classes from './items.module.css'
import type { Item, ItemNoun } from './items.tsx'
import { useRecord } from './use-record.ts'

/** A page of archived notes, disputes or letters, under the name of their kind. */
type ArchivedPage = Readonly<Record<string, readonly Item[]>> & { readonly next: string | null }

/** The archived notes, disputes or letters of a record, shown on request. */
export function Archived({ noun }: { readonly noun: ItemNoun }) {
  const { changed_at: changedAt } = useRecord()
  const { many } = nouns[noun]
  const [isOpen, setIsOpen] = useState(false)
  return (
    <section className={classes.items} aria-label={`Archived ${many}`}>
      <div>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={isOpen}
          classNames={{ root: classes.toggle ?? '', label: classes.toggleLabel ?? '' }}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? `Hide archived ${many}` : `Show archived ${many}`}
        </Button>
      </div>
      {/* Archiving and restoring change the record: the list is read again. */}
      {isOpen && <ArchivedList key={changedAt} noun={noun} />}
    </section>
  )
}

function ArchivedList({ noun }: { readonly noun: ItemNoun }) {
  const { id } = useRecord()
  const { many, path } = nouns[noun]
  const [page, setPage] = useState<ArchivedPage>()
  const address = `/clients/${id}/${path}?archived=true`
  useEffect(() => {
    const left = new AbortController()
    read<ArchivedPage>(address, left.signal)
      .then(setPage)
      .catch((error: unknown) => {
        if (!left.signal.aborted) notifyFailure(`The archived ${many} were not loaded`, error)
      })
    return () => left.abort()
  }, [address, many])
  if (!page) return null
  const pick = (next: ArchivedPage) => next[path] ?? []
  return (
    <More first={pick(page)} next={page.next} pick={pick} idOf={(item) => item.id} address={address}>
      {(items) =>
        items.length === 0 ? (
          <p className={classes.archived}>{`No ${many} are archived.`}</p>
        ) : (
          <ol className={classes.list}>
            {items.map((item) => (
              <li key={item.id}>
                <Entry noun={noun} item={item} />
              </li>
            ))}
          </ol>
        )
      }
    </More>
  )
}
