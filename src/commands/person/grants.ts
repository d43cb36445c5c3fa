import type { Command } from 'commander'
import { command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { operator } from '../operator.ts'
import { writeJson, writeLines } from '../output/output.ts'
import { findPerson, whichPerson, withPeople } from './context.ts'

/** The commands that decide which accounts a developer sees. */
export function grantCommands(context: Context): Command[] {
  return [
    grantCommand(context, 'grant', 'Let a developer see an account: its usage, requests, keys and budgets'),
    grantCommand(context, 'revoke', 'No longer let a developer see an account'),
  ]
}

function grantCommand(context: Context, name: 'grant' | 'revoke', description: string): Command {
  return command(name, description, `person ${name} dora@example.com Acme`)
    .argument(...whichPerson)
    .argument('<account>', 'its id or name')
    .action(async (who: string, which: string, { json }: CommonOptions) =>
      withPeople(context, async (people, grants) => {
        const { createAccounts } = await import('../../accounts/accounts.ts')
        const person = await findPerson(people, who)
        const account = await createAccounts({ database: await context.database() }).find(which)
        await grants[name]({ personId: person.id, accountId: account.id }, operator())
        const accounts = (await grants.list()).get(person.id) ?? []
        if (json) return writeJson(context, { id: person.id, accounts })
        return writeLines(context, `${person.name} ${name === 'grant' ? 'sees' : 'no longer sees'} ${account.name}.`)
      }),
    )
}
