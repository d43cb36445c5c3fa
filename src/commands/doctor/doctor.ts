import type { Command } from 'commander'
import { OperatorError, Problem } from '../../platform/problems.ts'
import { command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { checks, type DoctorCheck } from './checks.ts'
import { writeJson, writeLines } from '../output/output.ts'

interface Finding {
  readonly name: string
  readonly ok: boolean
  /** The finding, or the fault and its remedy. */
  readonly detail: string
}

interface Examination {
  readonly findings: readonly Finding[]
  /** The checks that were not run because a check that they need failed. */
  readonly skipped: readonly string[]
}

export function doctorCommand(context: Context): Command {
  return command('doctor', 'Report problems with this installation and how to fix them; changes nothing', 'doctor')
    .option('--portal-sql', "only print the SQL that sets the password of the portal's database user; do not log it")
    .action(({ json, portalSql }: DoctorOptions) =>
      portalSql ? printPortalSql(context, json === true) : report(context, json === true),
    )
}

interface DoctorOptions extends CommonOptions {
  readonly portalSql?: true
}

async function report(context: Context, json: boolean): Promise<void> {
  const { findings, skipped } = await examine(context)
  const faults = findings.filter(({ ok }) => !ok)
  if (json) writeJson(context, { ok: faults.length === 0, checks: findings, skipped })
  else {
    writeLines(context, ...findings.map(toLine))
    if (skipped.length > 0) writeLines(context, `Not checked until that is fixed: ${skipped.join(', ')}.`)
  }
  if (faults.length > 0) throw new OperatorError(`To fix: ${faults.map(({ name }) => name).join(', ')}.`)
}

/** For psql. Refused, like every command, unless the schema is of this version: migrations create the user. */
async function printPortalSql(context: Context, json: boolean): Promise<void> {
  await context.database()
  const { portalLoginStatement } = await import('../../access/portal/login.ts')
  const sql = `${await portalLoginStatement(await context.databaseUrl())};`
  if (json) writeJson(context, { sql })
  else writeLines(context, sql)
}

async function examine(context: Context): Promise<Examination> {
  const findings: Finding[] = []
  const skipped: string[] = []
  const passed = new Set<string>()
  for (const check of checks) {
    if (check.needs.some((name) => !passed.has(name))) {
      skipped.push(check.name)
      continue
    }
    const finding = await runCheck(check, context)
    findings.push(finding)
    if (finding.ok) passed.add(check.name)
  }
  return { findings, skipped }
}

async function runCheck(check: DoctorCheck, context: Context): Promise<Finding> {
  try {
    return { name: check.name, ok: true, detail: await check.run(context) }
  } catch (reported) {
    const error = await context.faultOf(reported)
    if (!(error instanceof OperatorError || error instanceof Problem)) throw error
    return { name: check.name, ok: false, detail: error.message }
  }
}

function toLine({ name, ok, detail }: Finding): string {
  return `${ok ? 'ok   ' : 'WRONG'}  ${name.padEnd(14)} ${detail.replaceAll('\n', `\n${' '.repeat(22)}`)}`
}
