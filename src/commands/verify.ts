import type { Command } from 'commander'
import { OperatorError } from '../platform/problems.ts'
import { command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { jsonOf, writeJson, writeLines } from './output.ts'

export function verifyCommand(context: Context): Command {
  return command('verify', 'Prove the books, or show the rows at fault', 'verify').action(
    async ({ json }: CommonOptions) => {
      const { verifyAudit } = await import('../access/verify.ts')
      const { verifyBooks } = await import('../billing/verify.ts')
      const database = await context.database()
      const checks = [...(await verifyBooks(database)).checks, ...(await verifyAudit(database))]
      const result = { ok: checks.every(({ ok }) => ok), checks }
      const wrong = result.checks.filter(({ ok }) => !ok)
      if (json) writeJson(context, result)
      else {
        for (const { name, ok, faults } of result.checks) {
          writeLines(context, `${ok ? 'ok   ' : 'WRONG'}  ${name}`, ...faults.map((fault) => `       ${jsonOf(fault)}`))
        }
      }
      if (!result.ok) throw new OperatorError(`The books are wrong: ${wrong.map(({ name }) => name).join('; ')}.`)
    },
  )
}
