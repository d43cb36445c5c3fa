import { Option, type Command } from 'commander'
import type { Keys, KeySummary } from '../accounts/keys/keys.ts'
import { presentKey } from '../accounts/present.ts'
import { id as modelId } from '../platform/config/values.ts'
import { keyLimitsOf, limitText, withKeyLimits, type KeyLimitOptions } from './key-limits.ts'
import { argument, command, group, parseList, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor } from './output/format.ts'
import { operator, recordView } from './operator.ts'
import { timeOrNull, warn, writeJson, writeKey, writeLines, writeTable } from './output/output.ts'
import { beginningIn, parseSpan, parseTimeOption, type InstantOrDay } from './output/times.ts'

interface CreateOptions extends KeyLimitOptions {
  readonly account: string
  readonly name: string
  readonly models?: readonly string[]
  readonly expires?: InstantOrDay
}

const day = 24 * 60 * 60 * 1000

export function keyCommand(context: Context): Command {
  return group('key', 'Manage API keys', [
    createCommand(context),
    listCommand(context),
    limitCommand(context),
    rotateCommand(context),
    revokeCommand(context),
  ])
}

function createCommand(context: Context): Command {
  return withKeyLimits(
    command(
      'create',
      'Create a key; it is shown only once',
      'key create --account Acme --name backend --expires 90d --daily-budget 5.00',
    ),
  )
    .requiredOption('--account <account>', 'the account that pays: its id or name')
    .requiredOption('--name <name>', 'its purpose')
    .option('--models <models>', 'allow only these models or aliases: a,b', argument(parseModels))
    .option('--expires <when>', 'a date, a time or a duration such as 90d', argument(parseTimeOption))
    .action(async ({ json, account, name, models, expires, ...options }: CreateOptions) => {
      const accountId = await accountIdOf(context, account)
      const expiresAt = expires === undefined ? null : await beginningIn(context, expires)
      const limits = await keyLimitsOf(context, options)
      const request = { accountId, name, allowedModels: models ?? null, expiresAt, limits }
      await withKeys(context, (keys) =>
        keys.create(request, operator(), ({ id, key }) => {
          if (!json) return showKey(context, { id, key })
          const document = {
            id,
            key,
            name: name.trim(),
            account_id: accountId,
            allowed_models: request.allowedModels,
            expires_at: timeOrNull(request.expiresAt),
          }
          return writeKey(context, `${JSON.stringify(document)}\n`)
        }),
      )
      if (models !== undefined) await warnOfUnknown(context, models)
    })
}

function listCommand(context: Context): Command {
  return command('list', 'List keys, without their secrets', 'key list --account Acme')
    .option('--account <account>', 'only those of this account: its id or name')
    .action(async ({ json, account }: CommonOptions & { account?: string }) => {
      const { createAccounts } = await import('../accounts/accounts.ts')
      const accounts = createAccounts({ database: await context.database() })
      const accountId = account === undefined ? undefined : (await accounts.find(account)).id
      await recordView(context, {
        action: 'account_keys_listed',
        noun: 'account',
        ...(accountId !== undefined && { nounId: accountId }),
      })
      const keys = await withKeys(context, (all) => all.list(accountId))
      if (json) return writeJson(context, { keys: keys.map(presentKey) })
      const format = await formatFor(context)
      const names = new Map((await accounts.list()).map(({ id, name }) => [id, name]))
      return writeTable(
        context,
        keys,
        [
          { title: 'NAME', text: ({ name }) => name },
          { title: 'ACCOUNT', text: (key) => (key.accountId === null ? 'none' : (names.get(key.accountId) ?? '')) },
          { title: 'KEY', text: ({ publicId }) => `tg_${publicId}_…` },
          { title: 'MODELS', text: ({ allowedModels }) => allowedModels?.join(',') ?? 'all' },
          { title: 'STATUS', text: ({ status }) => status },
          ...(keys.some((key) => limitText(key, format) !== '')
            ? [{ title: 'LIMITS', text: (key: KeySummary) => limitText(key, format) }]
            : []),
          { title: 'EXPIRES', text: ({ expiresAt }) => format.minute(expiresAt) },
          { title: 'LAST USED', text: ({ lastUsedAt }) => format.minute(lastUsedAt) },
          { title: 'ID', text: ({ id }) => id },
        ],
        `No keys yet. Create one: ./tollgate key create --account ${account ?? '<account>'} --name backend`,
      )
    })
}

function limitCommand(context: Context): Command {
  const limit = withKeyLimits(
    command('limit', "Change a key's limits and budgets", 'key limit <id> --daily-budget 5.00 --rpm none'),
  )
    .argument('<id>', 'the id of the key')
    .action(async (id: string, { json, ...options }: KeyLimitOptions) => {
      if (Object.keys(options).length === 0) {
        limit.error('error: name at least one limit: --daily-budget, --monthly-budget, --rpm or --tpm')
      }
      const limits = await keyLimitsOf(context, options)
      const key = await withKeys(context, (keys) => keys.setLimits(id, limits, operator()))
      if (json) return writeJson(context, presentKey(key))
      const text = limitText(key, await formatFor(context))
      return writeLines(context, `Limits of ${key.name}: ${text || 'only those of its account'}.`)
    })
  return limit
}

function rotateCommand(context: Context): Command {
  return command('rotate', 'Create a key to replace another', 'key rotate <id> --overlap 24h')
    .argument('<id>', 'the id of the old key')
    .addOption(
      new Option('--overlap <span>', 'how long the old key stays valid')
        .argParser(argument(parseSpan))
        .default(day, '24h'),
    )
    .action(async (old: string, { json, overlap }: CommonOptions & { overlap: number }) => {
      await withKeys(context, (keys) =>
        keys.rotate(old, { overlapMs: overlap }, operator(), ({ id, key }) =>
          json ? writeKey(context, `${JSON.stringify({ id, key, replaces: old })}\n`) : showKey(context, { id, key }),
        ),
      )
      if (json) return
      const end = (await formatFor(context)).minute(new Date(Date.now() + overlap))
      return writeLines(context, '', `The old key is valid until ${end} at the latest.`)
    })
}

function revokeCommand(context: Context): Command {
  return command('revoke', 'Revoke a key: every instance refuses it within a second', 'key revoke <id>')
    .argument('<id>', 'the id of the key')
    .action(async (id: string, { json }: CommonOptions) => {
      await withKeys(context, (keys) => keys.revoke(id, operator()))
      return json ? writeJson(context, { id, revoked: true }) : writeLines(context, `Revoked ${id}.`)
    })
}

/** Splits `a, b` into names that a model or an alias may have. Throws a RangeError. */
function parseModels(text: string): string[] {
  return parseList(text).map((name) => modelId.parse(name))
}

async function withKeys<Result>(context: Context, work: (keys: Keys) => Promise<Result>): Promise<Result> {
  const { createKeys } = await import('../accounts/keys/keys.ts')
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
  if (unknown.length > 0) warn(context, `Not in the configuration yet: ${unknown.join(', ')}.`)
}

function showKey(context: Context, { id, key }: { id: string; key: string }): Promise<void> {
  return writeKey(
    context,
    `${key}\n\nThe key is shown only this once: store it where your backend reads it. Its id: ${id}\n`,
  )
}
