import type { Command } from 'commander'
import { OperatorError } from '../platform/problems.ts'
import { command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { jsonOf, writeJson, writeLines } from './output.ts'

export function verifyCommand(context: Context): Command {
  return command('verify', 'Prove the books, or show the rows at fault', 'verify').action(
    async ({ json }: CommonOptions) => {
      const { verifyBooks } = await import('../billing/verify.ts')
      const result = await verifyBooks(await context.database())
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
