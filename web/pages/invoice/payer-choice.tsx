import { Select } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { AccountList } from '../../../src/accounts/schema.ts'
import type { ClientList } from '../../../src/clients/schema.ts'
import type { DraftOptions } from '../../../src/invoicing/schema.ts'
import { bestMatches } from '../../../src/platform/text/spelling.ts'
import { read } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import classes from './draft-form.module.css'

interface PayerChoiceProps {
  readonly payer: DraftOptions['payer']
  readonly onChoose: (kind: 'client' | 'account', id: string) => void
}

interface Choice {
  readonly value: string
  readonly label: string
}

interface Found {
  readonly clients: readonly Choice[]
  readonly accounts: readonly Choice[]
}

/** Pause in ms after the last key before payers are searched. */
const pause = 150
/** How many of each kind are offered: more would need to be scrolled. */
const most = 5

/** Chooses a client or an account by a part of its name. */
export function PayerChoice({ payer, onChoose }: PayerChoiceProps) {
  const [text, setText] = useState(payer?.name ?? '')
  const field = useRef<HTMLInputElement>(null)
  const isMissing = payer === null
  useEffect(() => {
    if (isMissing) field.current?.focus()
  }, [isMissing])
  const { clients, accounts } = useFound(text === payer?.name ? '' : text.trim())
  const chosen = payer && { value: `${payer.kind} ${payer.id}`, label: payer.name }
  const others = (choices: readonly Choice[]) => choices.filter(({ value }) => value !== chosen?.value)
  return (
    <Select
      ref={field}
      // It opens for what is typed and for the down arrow. The field has the focus when the page opens.
      openOnFocus={false}
      label="Client or account"
      className={classes.choice ?? ''}
      searchable
      placeholder="Type part of the name"
      nothingFoundMessage="No client or account has this name"
      data={[
        ...bestMatches(chosen ? [chosen] : [], text, ({ label }) => [label]),
        { group: 'Clients', items: others(clients) },
        { group: 'Accounts', items: others(accounts) },
      ]}
      // The server has searched already.
      filter={({ options }) => options}
      maxDropdownHeight={320}
      searchValue={text}
      onSearchChange={setText}
      value={chosen?.value ?? null}
      onChange={(value) => {
        const [kind, id] = value?.split(' ') ?? []
        if (id !== undefined) onChoose(kind === 'account' ? 'account' : 'client', id)
      }}
      allowDeselect={false}
    />
  )
}

function useFound(query: string): Found {
  const [found, setFound] = useState<Found>({ clients: [], accounts: [] })
  /** All accounts, which have no search of their own. */
  const accounts = useRef<Promise<AccountList>>(undefined)
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => {
      accounts.current ??= read<AccountList>('/accounts')
      Promise.all([
        read<ClientList>(`/clients?${new URLSearchParams({ q: query }).toString()}`, stop.signal),
        accounts.current,
      ])
        .then(([listed, all]) => !stop.signal.aborted && setFound(choicesOf(listed, all, query)))
        .catch((error: unknown) => {
          accounts.current = undefined
          if (!stop.signal.aborted) notifyFailure('Clients and accounts were not searched', error)
        })
    }, pause)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [query])
  return found
}

function choicesOf({ clients }: ClientList, { accounts }: AccountList, query: string): Found {
  return {
    clients: clients.slice(0, most).map(({ id, name }) => ({ value: `client ${id}`, label: name })),
    accounts: bestMatches(accounts, query, ({ name }) => [name])
      .slice(0, most)
      .map(({ id, name }) => ({ value: `account ${id}`, label: name })),
  }
}
