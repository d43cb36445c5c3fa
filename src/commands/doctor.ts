import type { Command } from 'commander'
import { OperatorError, Problem } from '../platform/problems.ts'
import { command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { checks, type Check } from './doctor-checks.ts'
import { writeJson, writeLines } from './output.ts'

interface Finding {
  readonly name: string
  readonly ok: boolean
  /** What was found, or what is wrong and what to do. */
  readonly detail: string
}

export function doctorCommand(context: Context): Command {
  return command('doctor', 'Look for what would stop the service, and say what to do', 'doctor').action(
    async ({ json }: CommonOptions) => {
      const findings = await examine(context)
      const faults = findings.filter(({ ok }) => !ok)
      if (json) writeJson(context, { ok: faults.length === 0, checks: findings })
      else writeLines(context, ...findings.map(toLine))
      if (faults.length > 0) throw new OperatorError(`Not in order: ${faults.map(({ name }) => name).join(', ')}.`)
    },
  )
}

async function examine(context: Context): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) {
    const missing = check.needs.find((name) => !findings.some((finding) => finding.name === name && finding.ok))
    findings.push(
      missing === undefined
        ? await carryOut(check, context)
        : { name: check.name, ok: false, detail: `Could not be checked: put the ${missing} in order first.` },
    )
  }
  return findings
}

async function carryOut(check: Check, context: Context): Promise<Finding> {
  try {
    return { name: check.name, ok: true, detail: await check.find(context) }
  } catch (error) {
    if (!(error instanceof OperatorError || error instanceof Problem)) throw error
    return { name: check.name, ok: false, detail: error.message }
  }
}

function toLine({ name, ok, detail }: Finding): string {
  return `${ok ? 'ok   ' : 'WRONG'}  ${name.padEnd(14)} ${detail.replaceAll('\n', `\n${' '.repeat(22)}`)}`
}
