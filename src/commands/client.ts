import { Option, type Command } from 'commander'
import type { Records } from '../clients/records.ts'
import type { ListedClient } from '../clients/schema.ts'
import type { People } from '../people/people.ts'
import { quoted } from '../platform/text/one-line.ts'
import { OperatorError } from '../platform/problems.ts'
import { command, group, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { faultText, readInputFile } from './input-file.ts'
import { formatFor } from './output/format.ts'
import { operator, withAccess } from './operator.ts'
import { writeJson, writeLines, writeTable } from './output/output.ts'

interface CreateOptions extends CommonOptions {
  readonly name: string
  readonly consultant: string
  readonly reference?: string
  readonly email?: string
  readonly address?: readonly string[]
}
interface ListOptions extends CommonOptions {
  readonly consultant?: string
  readonly status: 'active' | 'archived' | 'all'
}
interface ImportCommandOptions extends CommonOptions {
  readonly consultant?: string
  readonly dryRun?: true
}

const consultant = ['--consultant <email>', 'the email address of the consultant'] as const

export function clientCommand(context: Context): Command {
  return group('client', 'Manage clients', [
    createCommand(context),
    listCommand(context),
    assignCommand(context),
    importCommand(context),
  ])
}

function createCommand(context: Context): Command {
  return command('create', 'Create a client', 'client create --name "Berg & Sons" --consultant anna@example.com')
    .requiredOption('--name <name>', 'the name of the client')
    .requiredOption(...consultant)
    .option('--reference <text>', "the firm's own reference")
    .option('--email <address>', 'the email address for letters')
    .option('--address <lines...>', 'the postal address, one argument per line')
    .action(async ({ json, name, reference, email, address, consultant: owner }: CreateOptions) =>
      withRecords(context, async ({ records, people }) => {
        const { compileBody } = await import('../platform/http/input/validation.ts')
        const { newClient } = await import('../clients/schema.ts')
        const body = compileBody(newClient)({
          name,
          consultant_id: await personId(people, owner),
          ...(reference !== undefined && { reference }),
          ...(email !== undefined && { email }),
          ...(address !== undefined && { address: address.join('\n') }),
        })
        const client = await records.clients.create(operator(), body)
        if (json) return writeJson(context, client)
        return writeLines(
          context,
          `Created the client ${client.name}, assigned to ${client.consultant.name}: ${client.id}`,
        )
      }),
    )
}

function listCommand(context: Context): Command {
  const status = new Option('--status <status>', 'the status of the clients to list')
    .choices(['active', 'archived', 'all'])
    .default('active')
  return command('list', 'List clients', 'client list --consultant anna@example.com')
    .option('--consultant <email>', 'only clients of this consultant (email address)')
    .addOption(status)
    .action(async ({ json, status: wanted, consultant: email }: ListOptions) =>
      withRecords(context, async ({ records, people }) => {
        const owner = email === undefined ? {} : { consultant: await personId(people, email) }
        const clients = await everyClient(records, { ...owner, status: wanted })
        if (json) return writeJson(context, { clients })
        return writeTable(
          context,
          clients,
          [
            { title: 'NAME', text: ({ name }) => name },
            { title: 'REFERENCE', text: ({ reference }) => reference ?? '-' },
            { title: 'CONSULTANT', text: ({ consultant: { name } }) => name },
            { title: 'STATUS', text: (client) => client.status },
            { title: 'ID', text: ({ id }) => id },
          ],
          'No clients match. Create one: ./tollgate client create --name "Berg & Sons" --consultant anna@example.com',
        )
      }),
    )
}

function assignCommand(context: Context): Command {
  return command('assign', 'Assign a client to another consultant', 'client assign "Berg & Sons" anna@example.com')
    .argument('<client>', 'its id, or its reference or name if unique')
    .argument('<consultant>', 'the email address of the consultant')
    .action(async (client: string, email: string, { json }: CommonOptions) =>
      withRecords(context, async ({ records, people }) => {
        const body = { consultant_id: await personId(people, email) }
        const changed = await records.clients.change(operator(), await clientId(records, client), { basis: null, body })
        if (json) return writeJson(context, changed)
        return writeLines(context, `${changed.name} is now assigned to ${changed.consultant.name}.`)
      }),
    )
}

function importCommand(context: Context): Command {
  return command(
    'import',
    'Import clients from a CSV file; imports none if a line has an error',
    'client import clients.csv --dry-run',
  )
    .argument('<file>', 'a CSV file with the header name,reference,email,address,consultant; only name is required')
    .option('--consultant <email>', 'the email address of the consultant for lines without one')
    .option('--dry-run', 'check the file without importing it')
    .action(async (file: string, { json, ...options }: ImportCommandOptions) =>
      withRecords(context, async ({ records, people }) => {
        const { importClients } = await import('../clients/import/import.ts')
        const { access } = records
        const { imported, faults } = await importClients(
          { access, people },
          operator(),
          await readInputFile(file),
          options,
        )
        if (json) writeJson(context, { imported, faults, dry_run: options.dryRun === true })
        if (faults.length > 0) throw new OperatorError(faultText(refusal, faults))
        if (json) return
        const { count } = await formatFor(context)
        writeLines(context, `${options.dryRun ? 'Would import' : 'Imported'} ${count(imported, 'client')}.`)
      }),
    )
}

const refusal = 'Nothing was imported. Correct these lines and import the file again:'

async function withRecords<T>(
  context: Context,
  work: (opened: { records: Records; people: People }) => Promise<T>,
): Promise<T> {
  const { createRecords } = await import('../clients/records.ts')
  const { createPeople } = await import('../people/people.ts')
  const { currency } = await context.config()
  return withAccess(context, ({ access, audit, database }) =>
    work({ records: createRecords({ access, currency }), people: createPeople({ database, audit }) }),
  )
}

async function personId(people: People, email: string): Promise<string> {
  const person = await people.byEmail(email)
  if (person) return person.id
  throw new OperatorError(`Nobody has the address ${quoted(email)}. List the people: ./tollgate person list`)
}

async function everyClient(
  { clients }: Records,
  query: Parameters<Records['clients']['list']>[1],
): Promise<ListedClient[]> {
  const found: ListedClient[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await clients.list(operator(), { ...query, limit: '200', ...(cursor !== undefined && { cursor }) })
    found.push(...page.clients)
    cursor = page.next
  }
  return found
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function clientId(records: Records, text: string): Promise<string> {
  if (uuid.test(text)) return text
  const candidates = await everyClient(records, { q: text.slice(0, 200), status: 'all' })
  const meant = candidates.filter(({ name, reference }) => name === text || reference === text)
  const [first, ...others] = meant
  if (first === undefined) throw new OperatorError(`No client has the id, reference or name ${quoted(text)}.`)
  if (others.length > 0)
    throw new OperatorError(`${meant.length} clients have the reference or name ${quoted(text)}: use an id.`)
  return first.id
}
