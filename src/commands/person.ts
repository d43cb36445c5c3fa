import { Argument, Option, type Command } from 'commander'
import type { Role } from '../access/actor.ts'
import type { People } from '../people/people.ts'
import type { PersonSummary } from '../people/person.ts'
import { quoted } from '../platform/one-line.ts'
import { OperatorError } from '../platform/problems.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { command, group, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { operator } from './operator.ts'
import { minuteOf, timeOrNull, warn, writeJson, writeLines, writeTable } from './output.ts'

interface CreateOptions extends CommonOptions {
  readonly name: string
  readonly email: string
  readonly role: Role
}

const roles = ['consultant', 'partner'] as const
const which = ['<person>', 'the e-mail address or the id'] as const

export function personCommand(context: Context): Command {
  return group('person', 'Who may sign in to the portal, and what they may do there', [
    createCommand(context),
    listCommand(context),
    roleCommand(context),
    statusCommand(context, 'disable'),
    statusCommand(context, 'enable'),
  ])
}

function createCommand(context: Context): Command {
  return command(
    'create',
    'Enter a person, who may then sign in with an account of this address',
    'person create --email anna@example.com --name "Anna Berg" --role partner',
  )
    .requiredOption('--email <address>', 'the address that the provider says of the person')
    .requiredOption('--name <name>', 'how the portal calls the person')
    .addOption(new Option('--role <role>', 'what the person may do').choices(roles).default('consultant'))
    .action(async ({ json, name, email, role }: CreateOptions) =>
      withPeople(context, async (people) => {
        const person = await people.create({ name, email, role }, operator())
        await warnOfPolicy(context, email)
        if (json) return writeJson(context, person)
        return writeLines(
          context,
          `${person.name} is entered as a ${role}: ${person.id}`,
          `Sign in as ${person.email} at ${(await context.config()).base_url}`,
        )
      }),
    )
}

function listCommand(context: Context): Command {
  return command('list', 'Show every person', 'person list').action(async ({ json }: CommonOptions) =>
    withPeople(context, async (people) => {
      const all = await people.list()
      if (json) return writeJson(context, { people: all.map(toJson) })
      return writeTable(
        context,
        all,
        [
          { title: 'ID', text: ({ id }) => id },
          { title: 'NAME', text: ({ name }) => name },
          { title: 'E-MAIL', text: ({ email }) => email ?? '-' },
          { title: 'ROLE', text: ({ role }) => role },
          { title: 'STATUS', text: ({ status }) => status },
          { title: 'LAST SIGNED IN', text: ({ lastSignedInAt }) => minuteOf(lastSignedInAt) },
        ],
        'Nobody yet. Enter the first partner: ./tollgate person create --email anna@example.com --name "Anna Berg" --role partner',
      )
    }),
  )
}

function roleCommand(context: Context): Command {
  return command('role', 'Change what a person may do; ends their sessions', 'person role anna@example.com partner')
    .argument(...which)
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
    .action(async (person: string, role: Role, { json }: CommonOptions) =>
      withPeople(context, async (people) => {
        const { id } = await find(people, person)
        const changed = await people.setRole(id, role, operator())
        if (json) return writeJson(context, toJson(changed))
        return writeLines(context, `${changed.name} is a ${changed.role} now.`)
      }),
    )
}

function statusCommand(context: Context, name: 'disable' | 'enable'): Command {
  const [status, description] =
    name === 'disable'
      ? (['disabled', 'Keep a person from signing in; ends their sessions'] as const)
      : (['active', 'Let a disabled person sign in again'] as const)
  return command(name, description, `person ${name} anna@example.com`)
    .argument(...which)
    .action(async (person: string, { json }: CommonOptions) =>
      withPeople(context, async (people) => {
        const { id } = await find(people, person)
        const changed = await people.setStatus(id, status, operator())
        if (json) return writeJson(context, toJson(changed))
        return writeLines(context, `${changed.name} is ${changed.status} now.`)
      }),
    )
}

/** The policy holds for those who are entered here as well: the operator should hear of it now. */
async function warnOfPolicy(context: Context, address: string): Promise<void> {
  const { sign_up: signUp } = (await context.config()).sign_in
  const { readEmail } = await import('../people/email.ts')
  const email = readEmail(address)
  if (signUp.policy !== 'domain' || email === undefined || signUp.domains.includes(email.domain)) return
  warn(context, `Note: sign_in.sign_up lets in addresses at ${signUp.domains.join(', ')} only, which this one is not.`)
}

async function withPeople<T>(context: Context, work: (people: People) => Promise<T>): Promise<T> {
  const database = await context.database()
  const { createAudit } = await import('../access/audit.ts')
  const { createPeople } = await import('../people/people.ts')
  await using opened = new AsyncDisposableStack()
  const audit = opened.adopt(createAudit({ database }), (it) => it.close())
  return await work(createPeople({ database, audit }))
}

async function find(people: People, idOrEmail: string): Promise<PersonSummary> {
  if (isUuid(idOrEmail)) return people.show(idOrEmail)
  const person = await people.byEmail(idOrEmail)
  if (person !== undefined) return person
  throw new OperatorError(`Nobody has the address ${quoted(idOrEmail)}. Who there is: ./tollgate person list`)
}

function toJson({ id, name, email, role, status, createdAt, lastSignedInAt }: PersonSummary): object {
  return {
    id,
    name,
    email,
    role,
    status,
    created_at: createdAt.toISOString(),
    last_signed_in_at: timeOrNull(lastSignedInAt),
  }
}
