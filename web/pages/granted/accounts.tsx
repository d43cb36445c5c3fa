import { Button } from '@mantine/core'
import { IconBook } from '@tabler/icons-react'
import { useLoaderData } from 'react-router'
import type { GrantedAccountList } from '../../../src/accounts/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { useRowsAgain } from '../../components/rows.ts'
import { counted } from '../../words.ts'
import { AccountTable, type ListedAccount } from '../accounts/account-table.tsx'

const all = (accounts: readonly ListedAccount[]) => accounts

/** The accounts that a developer was granted: their first page. */
export function GrantedAccountsPage() {
  const { accounts } = useLoaderData<GrantedAccountList>()
  useRowsAgain()
  return (
    <Page
      title="Accounts"
      aside={accounts.length > 0 && counted(accounts.length, 'account')}
      actions={
        <Button component="a" href="/docs" variant="default" leftSection={<IconBook size={15} aria-hidden />}>
          API documentation
        </Button>
      }
    >
      {accounts.length === 0 ? (
        <Empty title="No accounts yet">
          <p>You see an account here as soon as a partner of the firm grants it to you.</p>
        </Empty>
      ) : (
        <AccountTable accounts={accounts} find={all} />
      )}
    </Page>
  )
}
