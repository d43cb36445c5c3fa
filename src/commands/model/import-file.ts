import {
  entryIdOf,
  entryOf,
  importFault,
  seemsToBeOther,
  type EntryOptions,
  type ImportedEntry,
} from '../../models/reported/entry.ts'
import type { ReportedModel } from '../../models/reported/reported-model.ts'
import { loadConfig, type Config } from '../../platform/config/config.ts'
import { modelsText, withModels } from '../../platform/config/models-text.ts'
import { readToRewrite } from '../../platform/config/rewrite.ts'
import { OperatorError } from '../../platform/problems.ts'
import { configRules, resolvedRules } from '../config-rules.ts'
import type { Context } from '../context.ts'
import { writeJson, writeLines } from '../output/output.ts'

/** The models to import. */
interface Chosen {
  readonly models: readonly ReportedModel[]
  /** Whether they were chosen by name: then there must be an entry for each. */
  readonly isNamed: boolean
}

interface ImportOrder {
  readonly choose: () => Promise<Chosen>
  readonly entry: EntryOptions
  readonly isDryRun: boolean
  readonly json: boolean
}

interface Plan {
  readonly entries: ImportedEntry[]
  /** The ids that the configuration has already. */
  readonly kept: string[]
  readonly leftOut: { readonly model: string; readonly reason: string }[]
  /** The ids of models whose context is only what they were trained for. */
  readonly unsure: string[]
}

/**
 * Writes entries for the chosen models to the configuration file, or prints them. Entries that exist are left alone.
 * Throws OperatorError, and writes nothing, if the file is missing, has changed in the meantime, or would be invalid.
 */
export async function importModels(context: Context, { choose, entry, isDryRun, json }: ImportOrder): Promise<void> {
  const config = await context.config()
  const { file } = config
  if (file === null) {
    throw new OperatorError(
      `There is no configuration file. Create ${context.root}/tollgate.yaml, which may be empty, or name one in TOLLGATE_CONFIG.`,
    )
  }
  const read = await readToRewrite(file)
  const plan = planFor(await choose(), config, entry)
  let lost: readonly string[] = []
  if (plan.entries.length > 0) {
    const text = withModels(read.text, plan.entries)
    if (text === undefined) {
      const reason = `models in ${file} must be a list with each "- id:" in its own line to be added to, so nothing was written.`
      throw new OperatorError(`${reason} Add this to models by hand:\n${modelsText(plan.entries).trimEnd()}`)
    }
    const check = (draft: string) => {
      const ids = new Set(checked(context, draft).models.map(({ id }) => id))
      lost = config.models.map(({ id }) => id).filter((id) => !ids.has(id))
    }
    await read.replace(text, check, isDryRun)
  }
  const commands = plan.entries.map(({ id }) => `./tollgate price set ${id} --input 0.10 --output 0.40`)
  if (!json) return writeLines(context, ...report(file, plan, { isDryRun, lost, commands }))
  return writeJson(context, {
    file,
    dry_run: isDryRun,
    entries: plan.entries,
    kept: plan.kept,
    left_out: plan.leftOut,
    trained_context: plan.unsure,
    no_longer_configured: lost,
    next: commands,
  })
}

function planFor({ models, isNamed }: Chosen, config: Config, options: EntryOptions): Plan {
  const configured = new Set([...config.models.map(({ id }) => id), ...Object.keys(config.aliases)])
  const added = new Map<string, string>()
  const plan: Plan = { entries: [], kept: [], leftOut: [], unsure: [] }
  for (const model of models) {
    const id = entryIdOf(model)
    const other = added.get(id)
    if (other === model.id) continue
    const reason =
      importFault(model, options) ??
      (!isNamed && seemsToBeOther(model)
        ? 'by its name it is not a text model: if it is one, choose it with --model'
        : null) ??
      (other === undefined ? null : `its id ${id} would be that of ${other}`)
    if (configured.has(id)) plan.kept.push(id)
    else if (reason !== null) plan.leftOut.push({ model: model.id, reason })
    else {
      plan.entries.push(entryOf(model, options))
      added.set(id, model.id)
      if (model.context === undefined && model.trainedContext !== undefined) plan.unsure.push(id)
    }
  }
  if (isNamed && plan.leftOut.length > 0) {
    const faults = plan.leftOut.map(({ model, reason }) => `${model} cannot be imported: ${reason}.`)
    throw new OperatorError([...faults, 'Nothing was written.'].join(' '))
  }
  return plan
}

/** Loads the draft as the next start would load the file. */
function checked({ environment, root }: Context, draft: string): Config {
  try {
    return loadConfig({
      environment: { ...environment, TOLLGATE_CONFIG: draft },
      root,
      rules: configRules,
      resolvedRules,
    })
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError(`Nothing was written, because the configuration would be invalid:\n${error.message}`)
  }
}

/** The maximum number of commands that are printed: after them the pattern is clear. */
const mostCommands = 20

interface Outcome {
  readonly isDryRun: boolean
  /** The ids of models that were there only as long as the file named none. */
  readonly lost: readonly string[]
  readonly commands: readonly string[]
}

function report(file: string, plan: Plan, { isDryRun, lost, commands }: Outcome): string[] {
  const { entries, kept, leftOut, unsure } = plan
  const ids = entries.map(({ id }) => id)
  const reasons = Map.groupBy(leftOut, ({ reason }) => reason)
  return [
    ...(ids.length === 0 ? ['There is nothing to write.'] : []),
    ...(ids.length > 0 && isDryRun ? [`This would be added to ${file}:`, '', modelsText(entries).trimEnd()] : []),
    ...(ids.length > 0 && !isDryRun ? [`Added to ${file}: ${ids.join(', ')}.`] : []),
    ...(kept.length > 0 ? [`Left alone, because the configuration has them: ${kept.join(', ')}.`] : []),
    ...[...reasons].map(([reason, all]) => `Left out (${reason}): ${all.map(({ model }) => model).join(', ')}.`),
    ...(unsure.length > 0
      ? [
          `Check the context of ${unsure.join(', ')}: it is what the model was trained for, and the server may give less.`,
        ]
      : []),
    ...(lost.length > 0
      ? [`The list replaces the default one: add ${lost.join(', ')} to models too to keep it, and its aliases.`]
      : []),
    ...(commands.length > 0
      ? [
          '',
          'They have no price, so no request can use them yet. Set your own prices per million tokens, then start again:',
          '',
          ...commands.slice(0, mostCommands).map((command) => `  ${command}`),
          ...(commands.length > mostCommands ? [`  … and ${commands.length - mostCommands} more`] : []),
        ]
      : []),
  ]
}
