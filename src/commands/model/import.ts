import type { Command } from 'commander'
import { capabilities, notRuledOut } from '../../models/capabilities.ts'
import { apiAt, askModels, NoModelList } from '../../models/reported/ask.ts'
import { entryIdOf, importFault, type EntryOptions } from '../../models/reported/entry.ts'
import type { ReportedModel } from '../../models/reported/reported-model.ts'
import { closest } from '../../platform/text/closest.ts'
import { endpoint } from '../../platform/config/values.ts'
import { OperatorError } from '../../platform/problems.ts'
import { argument, command, parseCount, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { formatFor } from '../output/format.ts'
import { importModels } from './import-file.ts'
import { writeJson, writeLines, writeTable } from '../output/output.ts'

interface ImportOptions extends CommonOptions {
  readonly keyEnv?: string
  readonly model?: readonly string[]
  readonly all?: true
  readonly context?: number
  readonly write?: true
  readonly dryRun?: true
}

export function importCommand(context: Context): Command {
  const imported = command(
    'import',
    "List an upstream's models, and add chosen ones to the configuration file",
    'model import https://models.example.com/v1 --key-env UPSTREAM_KEY --model large --write',
  )
    .argument(
      '<url>',
      'the base URL of an OpenAI-compatible API, as in models[].endpoints[].url',
      argument(endpoint.parse),
    )
    .option('--key-env <name>', "the environment variable with the upstream's key")
    .option('--model <name>', "a model by the upstream's name; may be repeated", collect)
    .option('--all', 'every text model')
    .option(
      '--context <tokens>',
      'the context length of models for which the upstream reports none',
      argument(parseCount),
    )
    .option('--write', 'write the chosen models to the configuration file')
    .option('--dry-run', 'print what --write would add to the file')
  return imported.action(async (url: string, { json, ...options }: ImportOptions) => {
    // Commander's own message would repeat what may be a key.
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(options.keyEnv ?? '_')) {
      imported.error('error: --key-env must be the name of an environment variable, not a key')
    }
    const chooses = options.all === true || options.model !== undefined
    const acts = options.write === true || options.dryRun === true
    if (options.all && options.model) imported.error('error: choose models with --model or with --all, not with both')
    if (acts && !chooses) imported.error('error: choose models: --model <name>, or --all')
    if (chooses && !acts) imported.error('error: add --write, or --dry-run to see what it would write')
    const key = options.keyEnv === undefined ? undefined : keyIn(context, options.keyEnv)
    const entry = { url, keyName: options.keyEnv, context: options.context }
    if (acts) {
      const choose = async () => chosenOf(await ask(url, key), options)
      return importModels(context, { choose, entry, isDryRun: options.write !== true, json: json === true })
    }
    return list(context, url, await ask(url, key), entry, json === true)
  })
}

function collect(name: string, names: readonly string[] | undefined): string[] {
  return [...(names ?? []), name]
}

function keyIn({ environment }: Context, name: string): string {
  const key = environment[name] ?? ''
  if (key === '')
    throw new OperatorError(`The environment variable ${name} is not set. Put the upstream's key into it.`)
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new OperatorError(
    `The environment variable ${name} contains more than a key: a space, or a character that is not ASCII.`,
  )
}

async function ask(url: string, key: string | undefined): Promise<readonly ReportedModel[]> {
  try {
    return await askModels({ url, key, api: apiAt(url) }, { signal: new AbortController().signal })
  } catch (error) {
    if (!(error instanceof NoModelList)) throw error
    throw new OperatorError(`${url} ${error.message}.${hintFor(error, url, key)}`)
  }
}

function hintFor({ status }: NoModelList, url: string, key: string | undefined): string {
  if (status === 401 || status === 403) {
    return key === undefined ? ' Put it into an environment variable, and add --key-env NAME.' : ' Check the key.'
  }
  if (status === 404 && !/\/v\d+[a-z0-9]*$/.test(url)) return ' The address usually ends in /v1.'
  return ''
}

/** The chosen models, each only once. Throws OperatorError if the upstream lacks one of them. */
function chosenOf(models: readonly ReportedModel[], { model: names }: ImportOptions) {
  const isNamed = names !== undefined
  const chosen = names === undefined ? models : [...new Set(names)].map((name) => find(models, name))
  return { models: chosen, isNamed }
}

function find(models: readonly ReportedModel[], name: string): ReportedModel {
  const found = models.find(({ id }) => id === name)
  if (found) return found
  const near = closest(
    name,
    models.map(({ id }) => id),
  )
  throw new OperatorError(`The upstream has no model ${name}.${near === undefined ? '' : ` Did you mean ${near}?`}`)
}

async function list(
  context: Context,
  url: string,
  models: readonly ReportedModel[],
  options: EntryOptions,
  json: boolean,
): Promise<void> {
  const { models: configured, aliases } = await context.config()
  const taken = new Set([...configured.map(({ id }) => id), ...Object.keys(aliases)])
  const rows = models.map((model) => ({ model, configured: taken.has(entryIdOf(model)) }))
  if (json) return writeJson(context, { url, models: rows.map((row) => toJson(row)) })
  const format = await formatFor(context)
  writeTable(
    context,
    rows,
    [
      { title: 'MODEL', text: ({ model }) => model.id },
      format.numberColumn('CONTEXT', ({ model }) => model.context ?? model.trainedContext ?? null),
      format.numberColumn('MAX OUTPUT', ({ model }) => model.maxOutputTokens ?? null),
      { title: 'CAPABILITIES', text: ({ model }) => capabilitiesText(model) },
      {
        title: 'NOTE',
        text: ({ model, configured: is }) =>
          is ? 'in the configuration' : (importFault(model, options) ?? noteOn(model)),
      },
    ],
    '',
  )
  writeLines(
    context,
    '',
    'A capability with a question mark is not reported, and is assumed to be present.',
    'To add models to the configuration, name them with --model or --all, and add --write or --dry-run.',
  )
}

function noteOn({ context, trainedContext }: ReportedModel): string {
  return context === undefined && trainedContext !== undefined
    ? 'trained for this context: the server may allow less'
    : ''
}

function capabilitiesText({ can }: ReportedModel): string {
  return notRuledOut(can ?? {})
    .map((capability) => (can?.[capability] === true ? capability : `${capability}?`))
    .join(', ')
}

function toJson({ model, configured }: { model: ReportedModel; configured: boolean }): object {
  return {
    id: model.id,
    context: model.context ?? null,
    trained_context: model.trainedContext ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    capabilities: Object.fromEntries(capabilities.map((capability) => [capability, model.can?.[capability] ?? null])),
    writes_text: model.writesText !== false,
    configured,
  }
}
