import { Button, NativeSelect, TextInput } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { Link, useLoaderData } from 'react-router'
import type { UnbilledList } from '../../../src/invoicing/unbilled/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { More } from '../../components/more.tsx'
import { Page } from '../../components/page.tsx'
import { useParameters } from '../../components/parameters.ts'
import { moneyText, roundedMoneyText } from '../../money.ts'
import { counted } from '../../words.ts'
import classes from './unbilled.module.css'
import { UnbilledTable } from './unbilled-table.tsx'

const orders = { oldest: 'Oldest first', amount: 'Largest first', name: 'By name' }

/** Unbilled work by client and account; for partners. */
export function UnbilledPage() {
  const list = useLoaderData<UnbilledList>()
  const { get, change } = useParameters()
  const file = new URLSearchParams({ until: list.until, sort: get('sort') || 'oldest' })
  return (
    <Page
      title="Unbilled"
      actions={
        <Button
          component="a"
          variant="default"
          href={`/invoices/unbilled.csv?${file}`}
          download="unbilled.csv"
          leftSection={<IconDownload size={15} aria-hidden />}
        >
          Export CSV
        </Button>
      }
    >
      <p className={classes.about}>
        Time, expenses and past months that are not yet on an invoice. <Link to="/invoices">All invoices</Link>
      </p>
      <search className={classes.filters}>
        <TextInput
          type="date"
          label="Up to"
          min="1900-01-01"
          max="9999-12-31"
          defaultValue={list.until}
          key={list.until}
          onBlur={({ currentTarget: { value } }) => value !== '' && value !== list.until && change({ until: value })}
        />
        <NativeSelect
          label="Order"
          data={Object.entries(orders).map(([value, label]) => ({ value, label }))}
          value={get('sort') || 'oldest'}
          onChange={({ currentTarget: { value } }) => change({ sort: value === 'oldest' ? '' : value })}
        />
      </search>
      {list.unbilled.length === 0 ? (
        <Empty title="Everything is billed">
          <p>Time and expenses from clients’ records appear here, and usage once its month has ended.</p>
        </Empty>
      ) : (
        <>
          <p className={classes.total}>
            <strong title={moneyText(list.amount, list.currency)}>
              {roundedMoneyText(list.amount, list.currency)}
            </strong>{' '}
            from {counted(list.payers, 'payer')}
          </p>
          <More
            first={list.unbilled}
            next={list.next}
            pick={({ unbilled }: UnbilledList) => unbilled}
            idOf={({ payer }) => payer.id}
          >
            {(rows) => <UnbilledTable rows={rows} until={list.until} currency={list.currency} />}
          </More>
        </>
      )}
    </Page>
  )
}
