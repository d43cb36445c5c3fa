import { ActionIcon, Badge, Button, Menu } from '@mantine/core'
import { IconCoins, IconDots, IconLock, IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLoaderData, useRevalidator } from 'react-router'
import type { BudgetList } from '../../../src/accounts/budgets/schema.ts'
import type { AccountShown, CreditList, KeyList } from '../../../src/accounts/schema.ts'
import type { AlertList, AttemptList } from '../../../src/alerts/schema.ts'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import { isPrepaid } from '../accounts/settings-fields.ts'
import { BatchesLink } from '../batches/batches-link.tsx'
import classes from './account.module.css'
import { Alerts } from './alerts.tsx'
import { Billing } from './billing.tsx'
import { Budgets } from './budgets.tsx'
import { Credit } from './credit.tsx'
import { AccountDialogs, type Opened } from './dialogs.tsx'
import { Facts } from './facts.tsx'
import { Keys } from './keys.tsx'

/** The data of the account page. */
export interface AccountData extends Pick<KeyList, 'keys' | 'models'> {
  readonly account: AccountShown
  readonly baseUrl: string
  readonly budgets: BudgetList['budgets']
  readonly timeZones: BudgetList['time_zones']
  readonly credit: CreditList
  readonly alerts: AlertList['alerts']
  readonly attempts: AttemptList['attempts']
}

/** One account: its money, its limits and its keys; for partners. */
export function AccountPage() {
  const data = useLoaderData<AccountData>()
  const { account, credit } = data
  const { revalidate } = useRevalidator()
  const [opened, open] = useState<Opened>()
  return (
    <Page
      title={account.name}
      heading={<Heading account={account} />}
      actions={
        <>
          <BatchesLink account={account.id} />
          {account.status === 'open' && <Actions account={account} open={open} />}
        </>
      }
    >
      <Facts account={account} />
      <Keys data={data} open={open} />
      <Budgets data={data} open={open} />
      {(isPrepaid(account) || credit.entries.length > 0) && (
        <Credit key={credit.entries[0]?.id} account={account} first={credit} />
      )}
      <Billing account={account} open={open} />
      <Alerts data={data} />
      <AccountDialogs data={data} opened={opened} open={open} onDone={revalidate} />
    </Page>
  )
}

function Heading({ account: { name, own, status } }: { readonly account: AccountShown }) {
  return (
    <div>
      <Link className={classes.back} to="/accounts">
        Accounts
      </Link>
      <span className={classes.heading}>
        <h1>{name}</h1>
        {own && <Badge>Our own</Badge>}
        {status === 'closed' && <Badge color="gray">Closed</Badge>}
      </span>
    </div>
  )
}

function Actions({ account, open }: { readonly account: AccountShown; readonly open: (it: Opened) => void }) {
  const { revalidate } = useRevalidator()
  async function close() {
    const sure = await confirm({
      title: `Close ${account.name}?`,
      text: 'Its keys are refused within a second. Requests in flight are still charged. It cannot be opened again; remaining credit can still be withdrawn.',
      action: 'Close account',
    })
    if (!sure) return
    try {
      await change(`/accounts/${account.id}/close`, { method: 'POST' })
      notifyDone(`${account.name} is closed.`)
    } catch (error) {
      notifyFailure('The account was not closed', error)
    }
    await revalidate()
  }
  return (
    <>
      {isPrepaid(account) && (
        <Button variant="default" leftSection={<IconCoins size={15} />} onClick={() => open({ dialog: 'credit' })}>
          Add credit
        </Button>
      )}
      <Menu position="bottom-end" width={200} shadow="md">
        <Menu.Target>
          <ActionIcon aria-label="More actions for this account" size="lg">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => open({ dialog: 'settings' })}>
            Name and limits
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item className={classes.danger} leftSection={<IconLock size={16} />} onClick={() => void close()}>
            Close account
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
