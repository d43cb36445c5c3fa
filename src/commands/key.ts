import { Option, type Command } from 'commander'
import type { Keys, KeySummary } from '../accounts/keys.ts'
import { id as modelId } from '../platform/config/values.ts'
import { argument, command, group, parseList, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { operator } from './operator.ts'
import { minuteOf, timeOrNull, warn, writeJson, writeLines, writeTable } from './output.ts'
import { parseSpan, parseTime } from './times.ts'

interface CreateOptions extends CommonOptions {
  readonly account?: string
  readonly name: string
  readonly models?: readonly string[]
  readonly expires?: Date
}

const day = 24 * 60 * 60 * 1000

export function keyCommand(context: Context): Command {
  return group('key', 'API keys: what a caller proves itself with', [
    createCommand(context),
    listCommand(context),
    rotateCommand(context),
    revokeCommand(context),
  ])
}

function createCommand(context: Context): Command {
  return command(
    'create',
    'Make a key; it is shown this once',
    'key create --account Acme --name backend --expires 90d',
  )
    .option('--account <account>', 'the id or name of the account that pays')
    .requiredOption('--name <name>', 'what it is for')
    .option('--models <models>', 'the only models it may use: a,b', argument(parseModels))
    .option('--expires <when>', 'a date, a time or a duration such as 90d', argument(parseTime))
    .action(async ({ json, account, name, models, expires }: CreateOptions) => {
      const accountId = account === undefined ? null : await accountIdOf(context, account)
      const request = { accountId, name, allowedModels: models ?? null, expiresAt: expires ?? null }
      const { id, key } = await withKeys(context, (keys) => keys.create(request, operator()))
      if (models !== undefined) await warnOfUnknown(context, models)
      if (accountId === null) {
        warn(
          context,
          'This key bills no account, so its calls are refused: name one with --account to make a key that works.',
        )
      }
      if (!json) return writeKey(context, { id, key })
      return writeJson(context, {
        id,
        key,
        name: name.trim(),
        account_id: accountId,
        allowed_models: request.allowedModels,
        expires_at: timeOrNull(request.expiresAt),
      })
    })
}

function listCommand(context: Context): Command {
  return command('list', 'Show keys; never their secrets', 'key list --account Acme')
    .option('--account <account>', 'only those of this account: its id or name')
    .action(async ({ json, account }: CommonOptions & { account?: string }) => {
      const accountId = account === undefined ? undefined : await accountIdOf(context, account)
      const keys = await withKeys(context, (all) => all.list(accountId))
      if (json) return writeJson(context, { keys: keys.map(toJson) })
      return writeTable(
        context,
        keys,
        [
          { title: 'ID', text: ({ id }) => id },
          { title: 'KEY', text: ({ publicId }) => `tg_${publicId}_…` },
          { title: 'NAME', text: ({ name }) => name },
          { title: 'ACCOUNT', text: (key) => key.accountId ?? 'none' },
          { title: 'MODELS', text: ({ allowedModels }) => allowedModels?.join(',') ?? 'all' },
          { title: 'STATUS', text: ({ status }) => status },
          { title: 'EXPIRES', text: ({ expiresAt }) => minuteOf(expiresAt) },
          { title: 'LAST USED', text: ({ lastUsedAt }) => minuteOf(lastUsedAt) },
        ],
        `No keys yet. Create one: ./tollgate key create --account ${account ?? '<account>'} --name backend`,
      )
    })
}

function rotateCommand(context: Context): Command {
  return command('rotate', 'Make a key that takes the place of another', 'key rotate <id> --overlap 24h')
    .argument('<id>', 'the id of the old key')
    .addOption(
      new Option('--overlap <span>', 'for how long the old one stays valid')
        .argParser(argument(parseSpan))
        .default(day, '24h'),
    )
    .action(async (old: string, { json, overlap }: CommonOptions & { overlap: number }) => {
      const { id, key } = await withKeys(context, (keys) => keys.rotate(old, { overlapMs: overlap }, operator()))
      if (json) return writeJson(context, { id, key, replaces: old })
      writeKey(context, { id, key })
      return writeLines(
        context,
        '',
        `The old key is valid until ${minuteOf(new Date(Date.now() + overlap))} at the latest.`,
      )
    })
}

function revokeCommand(context: Context): Command {
  return command('revoke', 'Revoke a key: it is refused everywhere within a second', 'key revoke <id>')
    .argument('<id>', 'the id of the key')
    .action(async (id: string, { json }: CommonOptions) => {
      await withKeys(context, (keys) => keys.revoke(id, operator()))
      return json ? writeJson(context, { id, revoked: true }) : writeLines(context, `Revoked ${id}.`)
    })
}

/** `a, b` → the names, each one that a model or an alias can have. Throws a RangeError. */
function parseModels(text: string): string[] {
  return parseList(text).map((name) => modelId.parse(name))
}

async function withKeys<Result>(context: Context, work: (keys: Keys) => Promise<Result>): Promise<Result> {
  const { createKeys } = await import('../accounts/keys.ts')
  const keys = createKeys({ database: await context.database(), log: await context.log() })
  try {
    return await work(keys)
  } finally {
    await keys.close()
  }
}

async function accountIdOf(context: Context, idOrName: string): Promise<string> {
  const { createAccounts } = await import('../accounts/accounts.ts')
  const { id } = await createAccounts({ database: await context.database() }).find(idOrName)
  return id
}

async function warnOfUnknown(context: Context, models: readonly string[]): Promise<void> {
  const config = await context.config()
  const known = new Set([...config.models.map(({ id }) => id), ...Object.keys(config.aliases)])
  const unknown = models.filter((model) => !known.has(model))
  if (unknown.length > 0) warn(context, `Not in the configuration, at least not yet: ${unknown.join(', ')}.`)
}

function writeKey(context: Context, { id, key }: { id: string; key: string }): void {
  writeLines(
    context,
    key,
    '',
    `This is the only time the key is shown: keep it where your backend reads it. Its id: ${id}`,
  )
}

function toJson(key: KeySummary): object {
  return {
    id: key.id,
    public_id: key.publicId,
    name: key.name,
    account_id: key.accountId,
    allowed_models: key.allowedModels,
    status: key.status,
    created_at: key.createdAt.toISOString(),
    expires_at: timeOrNull(key.expiresAt),
    revoked_at: timeOrNull(key.revokedAt),
    replaced_by: key.replacedBy,
    last_used_at: timeOrNull(key.lastUsedAt),
  }
}
