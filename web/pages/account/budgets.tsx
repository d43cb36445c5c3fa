import { ActionIcon, Badge, Button, Menu } from '@mantine/core'
import { IconCoins, IconDots, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react'
import { useRevalidator } from 'react-router'
import type { BudgetShown } from '../../../src/accounts/budgets/schema.ts'
import type { GrantedAccountShown, KeyShown } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import tables from '../../components/table.module.css'
import { exactTime } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { counted } from '../../words.ts'
import classes from './account.module.css'
import type { Opened } from './dialogs.tsx'

interface BudgetsProps {
  readonly data: {
    readonly account: GrantedAccountShown
    readonly keys: readonly KeyShown[]
    readonly budgets: readonly BudgetShown[]
  }
  /** Absent for those who only look. */
  readonly open?: (dialog: Opened) => void
}

/** What keys of the account share, or all requests with a tag. */
export function Budgets({ data: { account, keys, budgets }, open }: BudgetsProps) {
  return (
    <section className={classes.section} aria-labelledby="budgets">
      <div className={classes.head}>
        <h2 id="budgets">Budgets</h2>
        {account.status === 'open' && open && (
          <Button variant="default" leftSection={<IconPlus size={15} />} onClick={() => open({ dialog: 'budget' })}>
            New budget
          </Button>
        )}
      </div>
      {budgets.length === 0 ? (
        <p className={classes.none}>
          No shared budgets yet. A budget limits what several keys, or all requests with a tag, may spend.
        </p>
      ) : (
        <div className={tables.frame}>
          <table className={tables.table}>
            <thead>
              <tr>
                <th scope="col">Budget</th>
                <th scope="col">Spent</th>
                <th scope="col" className={tables.wide}>
                  Of
                </th>
                <th scope="col" className={tables.wide}>
                  Renewed
                </th>
                {open && <ActionsHead />}
              </tr>
            </thead>
            <tbody>
              {budgets.map((budget) => (
                <BudgetRow key={budget.id} {...{ budget, keys, currency: account.currency, open }} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

interface BudgetRowProps {
  readonly budget: BudgetShown
  readonly keys: readonly KeyShown[]
  readonly currency: string
  readonly open: BudgetsProps['open'] | undefined
}

const spans = { day: 'a day', week: 'a week', month: 'a month', total: 'in total' } as const

function BudgetRow({ budget, keys, currency, open }: BudgetRowProps) {
  const { hard, charged, limit, period, raised_by: raise, raised_until: until, renews_at: renews } = budget
  const sharers = sharersOf(budget, keys)
  return (
    <tr>
      <td>
        <BudgetName budget={budget} sharers={sharers} />
      </td>
      <td>
        {moneyText(charged, currency)} of {moneyText(limit, currency)} {spans[period]}
        {!hard && (
          <>
            {' '}
            <Badge color="gray">Only counted</Badge>
          </>
        )}
        {raise !== null && until !== null && (
          <div className={classes.raise}>
            Raised by {moneyText(raise, currency)} until {exactTime(until)}
          </div>
        )}
      </td>
      <td className={`${tables.wide} ${classes.models}`}>{sharers}</td>
      <td className={tables.wide}>{renews === null ? 'Never' : exactTime(renews)}</td>
      {open && (
        <td className={tables.actions}>
          <BudgetMenu budget={budget} open={open} />
        </td>
      )}
    </tr>
  )
}

/** The name, and on a phone what the columns of a wide screen show. */
function BudgetName({ budget, sharers }: { readonly budget: BudgetShown; readonly sharers: string }) {
  const { name, renews_at: renews } = budget
  return (
    <span className={classes.keyName}>
      <strong>{name}</strong>
      <span className={classes.narrow}>
        {sharers}
        {renews !== null && ` · until ${exactTime(renews)}`}
      </span>
    </span>
  )
}

/** The names of its keys, or its tag. */
function sharersOf({ tag, keys: ids }: BudgetShown, keys: readonly KeyShown[]): string {
  if (tag !== null) return tag.value === null ? `The tag ${tag.name}` : `${tag.name} = ${tag.value}`
  const names = keys.flatMap(({ id, name }) => (ids?.includes(id) ? [name] : []))
  return names.length > mostNamed ? counted(names.length, 'key') : names.join(', ')
}

const mostNamed = 4

function BudgetMenu({ budget, open }: { readonly budget: BudgetShown; readonly open: (dialog: Opened) => void }) {
  const { revalidate } = useRevalidator()
  async function remove() {
    const text =
      'Its keys are then bound only by their own limits and the account’s. What was spent stays in the usage.'
    if (!(await confirm({ title: `Remove ${budget.name}?`, text, action: 'Remove budget' }))) return
    try {
      await change(`/accounts/${budget.account_id}/budgets/${budget.id}`, { method: 'DELETE' })
      notifyDone('The budget was removed.')
    } catch (error) {
      notifyFailure('The budget was not removed', error)
    }
    await revalidate()
  }
  return (
    <Menu position="bottom-end" width={160} shadow="md">
      <Menu.Target>
        <ActionIcon aria-label={`More actions for the budget ${budget.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => open({ dialog: 'budget', budget })}>
          Change
        </Menu.Item>
        <Menu.Item leftSection={<IconCoins size={16} />} onClick={() => open({ dialog: 'raise', budget })}>
          Raise
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item className={classes.danger} leftSection={<IconTrash size={16} />} onClick={() => void remove()}>
          Remove
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
