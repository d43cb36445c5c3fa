import type { Command } from 'commander'
import type { BatchShown } from '../batches/progress/schema.ts'
import { command, group, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { recordView } from './operator.ts'
import { formatFor } from './output/format.ts'
import { writeJson, writeTable } from './output/output.ts'

export function batchCommand(context: Context): Command {
  return group('batch', 'Show batches of requests', [listCommand(context)])
}

function listCommand(context: Context): Command {
  return command(
    'list',
    'List the batches that are open or ended in the last 7 days, newest first',
    'batch list --account Acme',
  )
    .option('--account <account>', 'only those of this account: its id or name')
    .action(async ({ json, account }: CommonOptions & { account?: string }) => {
      const { createAccounts } = await import('../accounts/accounts.ts')
      const { readRecentBatches } = await import('../batches/progress/progress.ts')
      const { presentProgress } = await import('../batches/progress/present.ts')
      const database = await context.database()
      const accounts = createAccounts({ database })
      const accountId = account === undefined ? undefined : (await accounts.find(account)).id
      await recordView(context, {
        action: 'account_batches_listed',
        noun: 'account',
        ...(accountId !== undefined && { nounId: accountId }),
      })
      const batches = (await readRecentBatches(database, accountId)).map(presentProgress)
      if (json) return writeJson(context, { batches })
      const names = new Map((await accounts.list()).map(({ id, name }) => [id, name]))
      const format = await formatFor(context)
      return writeTable<BatchShown>(
        context,
        batches,
        [
          { title: 'ID', text: ({ batch_id: id }) => id },
          { title: 'ACCOUNT', text: ({ account_id: id }) => names.get(id) ?? id },
          { title: 'DIALECT', text: ({ dialect }) => dialect },
          { title: 'STATUS', text: ({ status }) => status },
          format.numberColumn('DONE', ({ succeeded }) => succeeded),
          format.numberColumn('FAILED', ({ failed }) => failed),
          format.numberColumn('LINES', ({ lines }) => lines),
          { title: 'WAITS FOR', text: ({ waits_for: what }) => what ?? '-' },
          { title: 'CREATED', text: ({ created_at: at }) => format.minute(new Date(at)) },
          { title: 'ENDED', text: ({ ended_at: at }) => format.minute(at === null ? null : new Date(at)) },
        ],
        'No batch is open or ended in the last 7 days. Callers queue them: docs/operating.md#batches',
      )
    })
}
