import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLoaderData } from 'react-router'
import type { AccountList } from '../../../src/accounts/schema.ts'
import { bestMatches } from '../../../src/platform/text/spelling.ts'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { useRowsAgain } from '../../components/rows.ts'
import { SearchField } from '../../components/search-field.tsx'
import { counted } from '../../words.ts'
import { AccountTable, type ListedAccount } from './account-table.tsx'
import classes from './accounts.module.css'
import { NewAccount } from './new-account.tsx'

/** The parties that pay for the API; for partners. */
export function AccountsPage() {
  const { accounts, defaults, currency } = useLoaderData<AccountList>()
  const [isAdding, setAdding] = useState(false)
  const [query, setQuery] = useState('')
  const find = <Listed extends ListedAccount>(all: readonly Listed[]) => bestMatches(all, query, ({ name }) => [name])
  useRowsAgain()
  const add = (
    <Button leftSection={<IconPlus size={15} />} onClick={() => setAdding(true)}>
      New account
    </Button>
  )
  return (
    <Page title="Accounts" aside={accounts.length > 0 && counted(accounts.length, 'account')} actions={add}>
      {accounts.length === 0 ? (
        <Empty title="No accounts yet">
          <p>An account pays for requests. Create one for each party that calls the API, then a key for it.</p>
        </Empty>
      ) : (
        <>
          <SearchField
            className={classes.search}
            label="Search accounts"
            placeholder="Name"
            value={query}
            onSearch={setQuery}
            onDown={() => document.querySelector<HTMLElement>('[data-row]')?.focus()}
          />
          {find(accounts).length === 0 ? (
            <Empty title="No account found">
              <p>No name contains “{query}”.</p>
              <Button variant="default" onClick={() => setQuery('')}>
                Show all
              </Button>
            </Empty>
          ) : (
            <AccountTable accounts={accounts} find={find} />
          )}
        </>
      )}
      {isAdding && <NewAccount defaults={defaults} currency={currency} onClose={() => setAdding(false)} />}
    </Page>
  )
}
