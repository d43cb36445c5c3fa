import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Command } from 'commander'
import type { SuspectRequest, Difference, Reconciliation } from '../billing/reconciliation/reconciliation.ts'
import { OperatorError } from '../platform/problems.ts'
import { quotedIfHidden } from '../platform/text/one-line.ts'
import { argument, command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { faultText, unreadable } from './input-file.ts'
import { recordView } from './operator.ts'
import { formatFor, type Format } from './output/format.ts'
import { warn, writeJson, writeLines, writeTable } from './output/output.ts'
import { parseDay } from './output/times.ts'

interface ReconcileOptions extends CommonOptions {
  readonly model?: ReadonlyMap<string, string>
  readonly skipModel?: ReadonlySet<string>
  readonly skipColumn?: ReadonlySet<string>
  readonly from?: string
  readonly to?: string
}

export function reconcileCommand(context: Context): Command {
  const [day, name] = [argument(parseDay), argument(parseName)]
  return command(
    'reconcile',
    "Compare a vendor's own usage with the ledger, and name the days, models and requests that differ",
    'reconcile usage.csv --from 2030-01-01 --to 2030-01-31',
  )
    .argument('<file>', "the vendor's usage export: CSV or JSON")
    .option(
      '--model <name=id>',
      "the model that the export calls by a name other than the upstream's; may be repeated",
      (text, before: ReadonlyMap<string, string> | undefined) => new Map([...(before ?? []), name(text)]),
    )
    .option('--skip-model <name>', 'leave out what the export says of a model; may be repeated', collect)
    .option('--skip-column <name>', 'leave out a column that is not known; may be repeated', collect)
    .option('--from <day>', 'the first day, in UTC (default: that of the export)', day)
    .option('--to <day>', 'the last day, in UTC (default: that of the export)', day)
    .action(async (file: string, { json, ...options }: ReconcileOptions, self: Command) => {
      const { from, to } = options
      if (from && to && from > to) self.error('error: --from must not be after --to')
      await requireFile(file, self)
      const { models } = await context.config()
      const { groupModels, reconcile } = await import('../billing/reconciliation/reconciliation.ts')
      const { recordedQuery } = await import('../access/audit/recorded-query.ts')
      await recordView(context, { action: 'usage_read', noun: 'usage', details: recordedQuery({ from, to }) })
      const found = await reconcile({
        database: await context.database(),
        chunks: createReadStream(file),
        options: {
          models: groupModels(models, options.model),
          skippedModels: options.skipModel ?? new Set(),
          skippedColumns: options.skipColumn ?? new Set(),
          from,
          to,
        },
      })
      if (Array.isArray(found)) {
        if (json) writeJson(context, { faults: found })
        return self.error(faultText('error: nothing was compared, because the export cannot be read:', found))
      }
      if (found.hasMore) warn(context, 'The vendor has more pages than this file: its last days may be incomplete.')
      if (found.isUnfinished) warn(context, 'The last day is not over: both sides still count.')
      if (json) writeJson(context, toJson(found))
      else await writeReport(context, found)
      const { length } = found.differences
      if (length === 0) return
      throw new OperatorError(`The vendor and the ledger differ: ${length} of ${found.compared} days of a model.`)
    })
}

const collect = (text: string, before: ReadonlySet<string> | undefined): ReadonlySet<string> =>
  new Set([...(before ?? []), text])

/** Splits `name=id` at the last sign. Throws a RangeError. */
function parseName(text: string): readonly [string, string] {
  const [, name, id] = /^(.+)=([^=]+)$/.exec(text) ?? []
  if (name === undefined || id === undefined) throw new RangeError('must be a name and an id: gpt-4o=far')
  return [name, id]
}

/** Status 1 means that something differs, so a file that cannot be opened is a usage error. */
async function requireFile(file: string, self: Command): Promise<void> {
  try {
    const handle = await open(file)
    const stat = await handle.stat()
    await handle.close()
    if (stat.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' })
  } catch (error) {
    self.error(`error: ${unreadable(file, error).message}`)
  }
}

const mostShown = 5

async function writeReport(context: Context, found: Reconciliation): Promise<void> {
  const format = await formatFor(context)
  const { differences } = found
  const rows = differences.flatMap((each) => each.counts.map((count) => ({ ...each, ...count })))
  const number = (count: bigint) => format.decimal(count.toString())
  const models = found.groups.map(({ name }) => quotedIfHidden(name)).join(', ')
  writeLines(
    context,
    `${format.count(found.rows, 'row')} of ${found.format}, ${found.from} to ${found.to} (UTC). Compared: ${models}.`,
    '',
  )
  writeTable(
    context,
    rows,
    [
      { title: 'DAY', text: ({ day }) => day },
      { title: 'MODEL', text: ({ group }) => quotedIfHidden(group.name) },
      { title: 'KIND', text: ({ kind }) => kind },
      { title: 'VENDOR', text: ({ vendor }) => number(vendor), right: true },
      { title: 'LEDGER', text: ({ ledger }) => number(ledger), right: true },
      { title: 'DIFFERENCE', text: ({ vendor, ledger }) => number(vendor - ledger), right: true },
    ],
    'The vendor and the ledger agree.',
  )
  if (differences.length > 0) writeLines(context, '', ...differences.flatMap((each) => explanation(each, format)))
}

function explanation(difference: Difference, format: Format): string[] {
  const { day, group, candidates, allCandidates, failures, unchargedInput, unchargedOutput } = difference
  const number = (count: bigint) => format.decimal(count.toString())
  const uncharged = [
    ...(unchargedInput > 0n ? [`${number(unchargedInput)} input`] : []),
    ...(unchargedOutput > 0n ? [`${number(unchargedOutput)} output`] : []),
  ]
  const reasons = [
    ...(uncharged.length > 0 ? [`${uncharged.join(' and ')} tokens were reported by the vendor and not charged`] : []),
    ...failures.map(({ code, requests }) => `${number(requests)} failed with ${code}`),
    ...candidates.slice(0, mostShown).map(candidateText),
    ...(allCandidates > mostShown ? [`and ${number(allCandidates - BigInt(mostShown))} more: --json names 20`] : []),
  ]
  const head = `${day} ${quotedIfHidden(group.name)}:`
  return reasons.length === 0
    ? [`${head} no request in the ledger stands out.`]
    : [head, ...reasons.map((reason) => `  ${reason}`)]
}

const candidateText = ({ requestId, at, model, inputTokens, outputTokens, reasons }: SuspectRequest): string =>
  `${requestId} at ${at} ${model}: ${inputTokens} input, ${outputTokens} output, ${reasons.join(', ')}`

function toJson(found: Reconciliation): object {
  return {
    ok: found.differences.length === 0,
    format: found.format,
    rows: found.rows,
    from: found.from,
    to: found.to,
    kinds: found.measures,
    models: found.groups.map(({ name, models }) => ({ name, ids: models })),
    compared: found.compared,
    differences: found.differences.map((each) => ({
      day: each.day,
      model: each.group.name,
      ids: each.group.models,
      counts: each.counts.map(({ kind, vendor, ledger }) => ({
        kind,
        vendor: Number(vendor),
        ledger: Number(ledger),
        difference: Number(vendor - ledger),
      })),
      uncharged_input: Number(each.unchargedInput),
      uncharged_output: Number(each.unchargedOutput),
      failed: each.failures.map(({ code, requests }) => ({ code, requests: Number(requests) })),
      requests: each.candidates.map((candidate) => ({
        request_id: candidate.requestId,
        at: candidate.at,
        model: candidate.model,
        input_tokens: candidate.inputTokens,
        output_tokens: candidate.outputTokens,
        uncharged_input: candidate.unchargedInput,
        uncharged_output: candidate.unchargedOutput,
        reasons: candidate.reasons,
      })),
      all_requests: Number(each.allCandidates),
    })),
  }
}
