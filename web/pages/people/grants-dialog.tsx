import { Button, Checkbox } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { AccountList } from '../../../src/accounts/schema.ts'
import type { ListedPerson } from '../../../src/people/schema.ts'
import { bestMatches } from '../../../src/platform/text/spelling.ts'
import { change, read, reasonOf } from '../../api.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { notifyFailure } from '../../components/notify.ts'
import { SearchField } from '../../components/search-field.tsx'
import classes from './people.module.css'

interface GrantsDialogProps {
  readonly person: ListedPerson | undefined
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}

/** Which accounts a developer sees. Each change is made at once. */
export function GrantsDialog({ person, onClose, onDone }: GrantsDialogProps) {
  if (person === undefined) return null
  return (
    <FormDialog title={`Accounts of ${person.name}`} closeOnEscape onClose={onClose}>
      <p className={classes.about}>
        Developers see the usage, the requests, the keys and the budgets of these accounts, and cannot change them.
      </p>
      <Accounts person={person} onDone={onDone} />
      <Button mt="md" onClick={onClose}>
        Done
      </Button>
    </FormDialog>
  )
}

function Accounts({ person, onDone }: { readonly person: ListedPerson } & Pick<GrantsDialogProps, 'onDone'>) {
  const [accounts, setAccounts] = useState<AccountList['accounts']>()
  const [failure, setFailure] = useState<string>()
  /** What is being changed, as it was asked for. */
  const [wanted, setWanted] = useState<{ readonly id: string; readonly isGranted: boolean }>()
  const [query, setQuery] = useState('')
  useEffect(() => {
    const leaving = new AbortController()
    read<AccountList>('/accounts', leaving.signal).then(
      (list) => setAccounts(list.accounts),
      (error: unknown) => leaving.signal.aborted || setFailure(reasonOf(error)),
    )
    return () => leaving.abort()
  }, [])

  async function grant(id: string, isGranted: boolean) {
    setWanted({ id, isGranted })
    try {
      const address = `/people/${person.id}/accounts`
      await (isGranted
        ? change(address, { method: 'POST', body: { account: id } })
        : change(`${address}/${id}`, { method: 'DELETE' }))
    } catch (error) {
      notifyFailure('The accounts were not changed', error)
    }
    await onDone()
    setWanted(undefined)
  }

  if (failure !== undefined) return <p role="alert">{failure}</p>
  if (accounts?.length === 0) return <p>There are no accounts yet.</p>
  return (
    <>
      {(accounts?.length ?? 0) > 8 && (
        <SearchField
          label="Search accounts"
          placeholder="Name"
          value={query}
          onSearch={setQuery}
          onDown={() => document.querySelector<HTMLElement>('[data-grants] input')?.focus()}
        />
      )}
      <ul className={classes.grants} data-grants>
        {bestMatches(accounts ?? [], query, ({ name }) => [name]).map(({ id, name, status }) => {
          const isGranted = person.accounts.some((each) => each.id === id)
          return (
            <li key={id}>
              <Checkbox
                label={status === 'closed' ? `${name} (closed)` : name}
                checked={wanted?.id === id ? wanted.isGranted : isGranted}
                readOnly={wanted !== undefined}
                onChange={() => wanted ?? void grant(id, !isGranted)}
              />
            </li>
          )
        })}
      </ul>
    </>
  )
}
