import { Argument, Option, type Command } from 'commander'
import { roles, type Role } from '../../access/actor.ts'
import { command, group, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { formatFor } from '../output/format.ts'
import { operator, recordView } from '../operator.ts'
import type { NamedAccount } from '../../people/grants/grants.ts'
import type { PersonSummary } from '../../people/person.ts'
import { personChangeCommands } from './changes.ts'
import { findPerson, personDocument, whichPerson, withPeople } from './context.ts'
import { grantCommands } from './grants.ts'
import { warn, writeJson, writeLines, writeTable } from '../output/output.ts'

interface CreateOptions extends CommonOptions {
  readonly name: string
  readonly email: string
  readonly role: Role
}

export function personCommand(context: Context): Command {
  return group('person', 'Manage the people who may sign in to the portal', [
    createCommand(context),
    listCommand(context),
    roleCommand(context),
    statusCommand(context, 'disable'),
    statusCommand(context, 'enable'),
    ...grantCommands(context),
    ...personChangeCommands(context),
  ])
}

function createCommand(context: Context): Command {
  return command(
    'create',
    'Add a person, who can then sign in with this email address',
    'person create --email anna@example.com --name "Anna Berg" --role partner',
  )
    .requiredOption('--email <address>', 'their email address at the provider')
    .requiredOption('--name <name>', 'their name in the portal')
    .addOption(new Option('--role <role>', 'their role').choices(roles).default('consultant'))
    .action(async ({ json, name, email, role }: CreateOptions) =>
      withPeople(context, async (people) => {
        const person = await people.create({ name, email, role }, operator())
        await warnOfPolicy(context, email)
        if (json) return writeJson(context, person)
        return writeLines(
          context,
          `Added ${person.name} as a ${role}: ${person.id}`,
          `They can sign in as ${person.email} at ${(await context.config()).base_url}`,
        )
      }),
    )
}

function listCommand(context: Context): Command {
  return command('list', 'List all people', 'person list').action(async ({ json }: CommonOptions) =>
    withPeople(context, async (people, grants) => {
      await recordView(context, { action: 'people_listed', noun: 'person' })
      const [all, granted] = await Promise.all([people.list(), grants.list()])
      const accountsOf = ({ id }: PersonSummary) => granted.get(id) ?? []
      if (json) {
        return writeJson(context, {
          people: all.map((person) => ({ ...personDocument(person), accounts: accountsOf(person) })),
        })
      }
      const format = await formatFor(context)
      return writeTable(
        context,
        all,
        [
          { title: 'NAME', text: ({ name }) => name },
          { title: 'EMAIL', text: ({ email }) => email ?? '-' },
          { title: 'ROLE', text: ({ role }) => role },
          { title: 'STATUS', text: ({ status }) => status },
          { title: 'LAST SIGN-IN', text: ({ lastSignedInAt }) => format.minute(lastSignedInAt) },
          ...(granted.size === 0
            ? []
            : [{ title: 'ACCOUNTS', text: (person: PersonSummary) => namesOf(accountsOf(person)) }]),
          { title: 'ID', text: ({ id }) => id },
        ],
        'No people yet. Add the first partner: ./tollgate person create --email anna@example.com --name "Anna Berg" --role partner',
      )
    }),
  )
}

const namesOf = (accounts: readonly NamedAccount[]): string => accounts.map(({ name }) => name).join(', ') || '-'

function roleCommand(context: Context): Command {
  return command('role', 'Change the role of a person and end their sessions', 'person role anna@example.com partner')
    .argument(...whichPerson)
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
    .action(async (person: string, role: Role, { json }: CommonOptions) =>
      withPeople(context, async (people) => {
        const { id } = await findPerson(people, person)
        const changed = await people.setRole(id, role, operator())
        if (json) return writeJson(context, personDocument(changed))
        return writeLines(context, `${changed.name} is now a ${changed.role}.`)
      }),
    )
}

function statusCommand(context: Context, name: 'disable' | 'enable'): Command {
  const [status, description] =
    name === 'disable'
      ? (['disabled', 'Prevent a person from signing in and end their sessions'] as const)
      : (['active', 'Allow a disabled person to sign in again'] as const)
  return command(name, description, `person ${name} anna@example.com`)
    .argument(...whichPerson)
    .action(async (person: string, { json }: CommonOptions) =>
      withPeople(context, async (people) => {
        const { id } = await findPerson(people, person)
        const changed = await people.setStatus(id, status, operator())
        if (json) return writeJson(context, personDocument(changed))
        return writeLines(context, `${changed.name} is now ${changed.status}.`)
      }),
    )
}

/** The sign-up policy also applies to people who are added by command. */
async function warnOfPolicy(context: Context, address: string): Promise<void> {
  const { sign_up: signUp } = (await context.config()).sign_in
  const { readEmail } = await import('../../people/email.ts')
  const email = readEmail(address)
  if (signUp.policy !== 'domain' || email === undefined || signUp.domains.includes(email.domain)) return
  warn(
    context,
    `${email.address} cannot sign in: sign_in.sign_up allows only addresses at ${signUp.domains.join(', ')}.`,
  )
}
