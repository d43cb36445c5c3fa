import { Option, type Command } from 'commander'
import { roles, type Role } from '../../access/actor.ts'
import { command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { formatFor } from '../output/format.ts'
import { operator } from '../operator.ts'
import { requireReader, warn, writeJson, writeLines, writeOrFail } from '../output/output.ts'
import { findPerson, personDocument, whichPerson, withPeopleParts } from './context.ts'

interface InviteOptions extends CommonOptions {
  readonly name: string
  readonly email: string
  readonly role: Role
}

/** The commands that change people's sign-in methods and clients. */
export function personChangeCommands(context: Context): Command[] {
  return [
    inviteCommand(context),
    renameCommand(context),
    emailCommand(context),
    unlinkCommand(context),
    resetFactorCommand(context),
    handoverCommand(context),
    sessionsCommand(context),
    deleteCommand(context),
  ]
}

function inviteCommand(context: Context): Command {
  return command(
    'invite',
    'Invite a person, and print the link for them. It works once, within 7 days',
    'person invite --email anna@example.com --name "Anna Berg"',
  )
    .requiredOption('--email <address>', 'the email address to invite')
    .requiredOption('--name <name>', 'their name in the portal')
    .addOption(new Option('--role <role>', 'their role').choices(roles).default('consultant'))
    .action(async ({ json, name, email, role }: InviteOptions) => {
      requireReader(context, 'the link')
      return withPeopleParts(context, async ({ invitations }) => {
        const { invitation, link = '' } = await invitations.create({ name, email, role }, operator())
        const { id, expiresAt } = invitation
        const document = { id, name: invitation.name, email: invitation.email, role, expires_at: expiresAt, link }
        const { minute } = await formatFor(context)
        const text = `Invited ${invitation.name} as a ${role}. Give this link to no one else; it works until ${minute(expiresAt)}:\n${link}`
        // A second invitation of the same address replaces this one.
        const failure = 'The link could not be written. Run the command again for another one'
        return writeOrFail(context, `${json ? JSON.stringify(document) : text}\n`, failure)
      })
    })
}

function renameCommand(context: Context): Command {
  return command('rename', 'Change the name of a person', 'person rename anna@example.com "Anna Bergström"')
    .argument(...whichPerson)
    .argument('<name>', 'the new name')
    .action(async (person: string, name: string, { json }: CommonOptions) =>
      withPeopleParts(context, async ({ people, admin }) => {
        const { id, name: before } = await findPerson(people, person)
        const changed = await admin.change(id, { name }, operator())
        if (json) return writeJson(context, personDocument(changed))
        return writeLines(context, `${before} is now called ${changed.name}.`)
      }),
    )
}

function emailCommand(context: Context): Command {
  return command(
    'email',
    'Change the email address of a person, end their sessions, and notify both addresses',
    'person email anna@example.com anna.berg@example.com',
  )
    .argument(...whichPerson)
    .argument('<address>', 'the new email address')
    .action(async (person: string, email: string, { json }: CommonOptions) =>
      withPeopleParts(context, async ({ people, admin }) => {
        const { id } = await findPerson(people, person)
        const changed = await admin.change(id, { email }, operator())
        if (json) return writeJson(context, personDocument(changed))
        return writeLines(context, `${changed.name} now has the address ${changed.email ?? ''}.`)
      }),
    )
}

function unlinkCommand(context: Context): Command {
  return command(
    'unlink',
    "Unlink a person's provider accounts, so that they can sign in with a new one that has the same address",
    'person unlink anna@example.com',
  )
    .argument(...whichPerson)
    .action(async (person: string, { json }: CommonOptions) =>
      withPeopleParts(context, async ({ people, admin }) => {
        const { id, name } = await findPerson(people, person)
        const unlinked = await admin.unlink(id, operator())
        if (json) return writeJson(context, { id, unlinked })
        const { count } = await formatFor(context)
        return writeLines(context, `Unlinked ${count(unlinked, 'provider account')} of ${name}.`)
      }),
    )
}

function resetFactorCommand(context: Context): Command {
  return command(
    'reset-factor',
    'Remove the second factors, passkeys and recovery codes of a person who lost them',
    'person reset-factor anna@example.com',
  )
    .argument(...whichPerson)
    .action(async (person: string, { json }: CommonOptions) =>
      withPeopleParts(context, async ({ people, admin }) => {
        const { id, name } = await findPerson(people, person)
        await admin.resetFactors(id, operator())
        if (json) return writeJson(context, { id, reset: true })
        return writeLines(context, `${name} can set up new second factors after signing in.`)
      }),
    )
}

function handoverCommand(context: Context): Command {
  return command(
    'handover',
    "Assign all of a person's clients, including archived ones, to another person in one step",
    'person handover anna@example.com daniel@example.com --dry-run',
  )
    .argument(...whichPerson)
    .argument('<to>', 'the email address or id of the person who receives them')
    .option('--dry-run', 'show how many clients there are, and change nothing')
    .action(async (person: string, to: string, { json, dryRun = false }: CommonOptions & { dryRun?: boolean }) =>
      withPeopleParts(context, async ({ people, handover }) => {
        const [from, receiver] = [await findPerson(people, person), await findPerson(people, to)]
        const { count, number } = await formatFor(context)
        const preview = await handover.preview(operator(), from.id, receiver.id)
        const { active, archived, conflicts } = preview
        if (dryRun) {
          const references = conflicts.map(({ reference }) => reference ?? '')
          if (json) return writeJson(context, { active, archived, conflicts: references, dry_run: true })
          if (references.length > 0) warn(context, `Both have clients with these references: ${references.join(', ')}.`)
          return writeLines(
            context,
            `${from.name} has ${count(active, 'active client')} and ${number(archived)} archived. Nothing was changed.`,
          )
        }
        const moved = await handover.perform(operator(), { from: from.id, to: receiver.id })
        if (json) return writeJson(context, { from: from.id, to: receiver.id, handed_over: moved, dry_run: false })
        return writeLines(context, `Handed ${count(moved, 'client')} of ${from.name} over to ${receiver.name}.`)
      }),
    )
}

function sessionsCommand(context: Context): Command {
  const end = command('sessions', 'End all sessions of a person, or of everyone', 'person sessions anna@example.com')
    .argument('[person]', 'their email address or id')
    .option('--all', 'end the sessions of everyone')
    .action(async (person: string | undefined, { json, all = false }: CommonOptions & { all?: boolean }) => {
      if ((person !== undefined) === all) end.error('error: give either a person or --all')
      return withPeopleParts(context, async ({ people, sessions }) => {
        const ended =
          person === undefined
            ? await sessions.endAll(operator())
            : await sessions.end({ personId: (await findPerson(people, person)).id }, operator())
        if (json) return writeJson(context, { ended: ended.length })
        const { count } = await formatFor(context)
        return writeLines(context, `Ended ${count(ended.length, 'session')}.`)
      })
    })
  return end
}

function deleteCommand(context: Context): Command {
  return command(
    'delete',
    'Delete a person. Their address can be used again; their name stays in the history',
    'person delete anna@example.com --yes',
  )
    .argument(...whichPerson)
    .requiredOption('--yes', 'confirm: this cannot be undone')
    .action(async (person: string, { json }: CommonOptions) =>
      withPeopleParts(context, async ({ people, admin }) => {
        const { id, name } = await findPerson(people, person)
        await admin.remove(id, operator())
        if (json) return writeJson(context, { id, deleted: true })
        return writeLines(context, `Deleted ${name}.`)
      }),
    )
}
