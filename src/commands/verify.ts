import type { Command } from 'commander'
import type { Config } from '../platform/config/config.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { OperatorError } from '../platform/problems.ts'
import type { VerifyCheck } from '../platform/verify-checks.ts'
import { parseSeals, type SealLine } from '../platform/seals/seal-line.ts'
import { argument, command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { jsonOf, warn, writeJson, writeLines } from './output/output.ts'

interface VerifyOptions extends CommonOptions {
  readonly full?: true
  readonly seal?: readonly SealLine[]
}

export function verifyCommand(context: Context): Command {
  return command(
    'verify',
    'Verify the ledger, invoices, sealed rows, records and permissions, and show the rows at fault',
    'verify',
  )
    .option('--full', 'read every sealed row, not only a sample of each large table; shows progress on stderr')
    .option(
      '--seal <text>',
      'check that the chains contain these seals: lines of the log with the message "rows sealed"',
      (text, earlier: readonly SealLine[] | undefined) => [...(earlier ?? []), ...argument(parseSeals)(text)],
    )
    .action(async (options: VerifyOptions) => {
      const checks = await runAll(context, options)
      const wrong = checks.filter(({ ok }) => !ok)
      if (options.json) writeJson(context, { ok: wrong.length === 0, checks })
      else writeLines(context, ...checks.flatMap(linesOf))
      if (wrong.length > 0) throw new OperatorError(`Verification failed: ${wrong.map(({ name }) => name).join('; ')}.`)
    })
}

async function runAll(context: Context, { full, seal }: VerifyOptions): Promise<VerifyCheck[]> {
  const { verifyAll } = await import('./verification.ts')
  const { openStorageToRead } = await import('../clients/verify.ts')
  const config = await context.config()
  const storage = await openStorageToRead(config)
  try {
    return await verifyAll(await context.database(), {
      full: full === true,
      longestRequest: longestRequestOf(config),
      encryption: await findEncryption(context),
      storage,
      ...(seal && { kept: seal }),
      ...(full && { onProgress: (line) => warn(context, line) }),
    })
  } finally {
    await storage.close()
  }
}

/** The key may be on another machine only. */
async function findEncryption(context: Context): Promise<Encryption | undefined> {
  const { confirmEncryption } = await import('../platform/encryption/encryption-check.ts')
  try {
    return await confirmEncryption(await context.database(), await context.config())
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    warn(context, `Mailed links and unfinished sign-ins are not verified. ${error.message}`)
    return undefined
  }
}

const hour = 3600

/** In seconds: an hour, or longer where an upstream may take longer. */
function longestRequestOf({ models }: Config): number {
  const timeouts = models.map((model) => (model.engine === 'local' ? 0 : model.timeout.total / 1000))
  return hour + Math.max(0, ...timeouts)
}

function linesOf({ name, ok, faults, sample }: VerifyCheck): string[] {
  const read = sample === undefined ? '' : ` (${sample})`
  return [`${ok ? 'ok   ' : 'WRONG'}  ${name}${read}`, ...faults.map((fault) => `       ${jsonOf(fault)}`)]
}
