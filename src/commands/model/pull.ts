import { statSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import {
  parseModelSource,
  pullModel,
  type ModelSource,
  type Progress,
  type PulledModel,
} from '../../models/pull/pull.ts'
import { OperatorError } from '../../platform/problems.ts'
import { argument, command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { sizeText, writeJson, writeLines } from '../output/output.ts'

interface PullOptions extends CommonOptions {
  readonly to?: string
  readonly sha256?: string
  readonly tokenFile?: string
}

export function pullCommand(context: Context): Command {
  return command(
    'pull',
    'Download a model file, or resume an interrupted download',
    'model pull hf:owner/repository/model-q4_k_m.gguf',
  )
    .argument('<source>', 'hf:owner/repository/file.gguf, or an https:// URL', argument(checkedSource))
    .option('--to <path>', 'the folder or the file to write (default: models in the data folder)')
    .option('--sha256 <checksum>', 'the SHA-256 of the file, 64 hexadecimal digits', argument(parseChecksum))
    .option('--token-file <file>', 'a file with the access token for the host')
    .action(async (text: string, { to, sha256, tokenFile, json }: PullOptions) => {
      const source = parseModelSource(text, tokenFile === undefined ? undefined : await readToken(tokenFile))
      const file = await placeFor(context, source, to)
      const display = createDisplay(context, path.basename(file))
      const pulled = await pullModel({ source, file, sha256, onProgress: display.show }).finally(display.end)
      if (json) return writeJson(context, toJson(pulled))
      return writeLines(context, ...(await report(context, pulled)))
    })
}

/** Rejects a bad source as a usage error; the action parses it again. */
function checkedSource(text: string): string {
  parseModelSource(text)
  return text
}

function parseChecksum(text: string): string {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new RangeError('must be 64 hexadecimal digits')
  return text.toLowerCase()
}

async function readToken(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const token = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => '',
  )
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new OperatorError(`The file ${file} contains no access token. Write the token into it, and nothing else.`)
}

async function placeFor(context: Context, { fileName }: ModelSource, to: string | undefined): Promise<string> {
  if (to === undefined) return path.join((await context.config()).data, 'models', fileName)
  const place = path.resolve(to)
  const isFolder = /[/\\]$/.test(to) || statSync(place, { throwIfNoEntry: false })?.isDirectory() === true
  return isFolder ? path.join(place, fileName) : place
}

/** A progress bar on a terminal, or else a line for every tenth. */
function createDisplay({ stderr }: Pick<Context, 'stderr'>, name: string) {
  const isTerminal = 'isTTY' in stderr && stderr.isTTY === true
  const startedAt = performance.now()
  let shownAt = -Infinity
  let shownTenth = -1
  let loaded = 0
  let before: number | undefined

  function show({ received, total }: Progress): void {
    before ??= received
    loaded = received - before
    const share = total === undefined || total === 0 ? undefined : received / total
    const tenth = Math.floor((share ?? Math.log2(received + 1) / 10) * 10)
    const now = performance.now()
    const isDue = isTerminal ? now - shownAt > 100 || share === 1 : tenth > shownTenth
    if (!isDue) return
    shownAt = now
    shownTenth = tenth
    const speed = `${sizeText((loaded / Math.max(1, now - startedAt)) * 1000)}/s`
    const amount = total === undefined ? sizeText(received) : `${sizeText(received)} of ${sizeText(total)}`
    if (isTerminal) stderr.write(`\r${name}  ${share === undefined ? '' : `${bar(share)}  `}${amount}  ${speed}   `)
    else stderr.write(`${name}: ${amount}${share === undefined ? '' : ` (${Math.floor(share * 100)} %)`}\n`)
  }

  return { show, end: () => void (isTerminal && before !== undefined && stderr.write('\n')) }
}

const barLength = 24

function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * barLength)
  return `[${'#'.repeat(full)}${'.'.repeat(barLength - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}

const compared = {
  given: 'it matches the given checksum',
  announced: "it matches the host's checksum",
} as const

const mostContext = 8192

/** The model's id: the name of the file, in lower case. */
function idOf(file: string): string {
  return path
    .basename(file)
    .replace(/\.gguf$/i, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 100)
}

/** Settings for the configuration, in its names. */
function settingsOf({ file, model: { trainedContext, purpose } }: PulledModel) {
  const context = Math.min(mostContext, trainedContext)
  const common = { id: idOf(file), engine: 'local', file, context, parallel: 2 }
  return purpose === 'embeddings'
    ? { ...common, kind: 'embeddings' }
    : { ...common, max_output_tokens: Math.floor(context / 4) }
}

async function report(context: Context, pulled: PulledModel): Promise<string[]> {
  const { file, bytes, sha256, comparedWith, model } = pulled
  const { id, ...settings } = settingsOf(pulled)
  const makesText = model.purpose !== 'embeddings'
  const checked = comparedWith === null ? 'not verified: no checksum was given' : compared[comparedWith]
  const { file: configured, models } = await context.config()
  return [
    `Downloaded ${file}: ${sizeText(bytes)}, SHA-256 ${sha256} (${checked}).`,
    `It is a ${model.architecture} model${makesText ? '' : ' of embeddings'}, trained for ${model.trainedContext} tokens${makesText ? `, ${model.hasChatTemplate ? 'with' : 'WITHOUT'} a chat template` : ''}.`,
    ...(model.hasChatTemplate || !makesText
      ? []
      : ['Without a chat template it cannot be served. Take a file whose name says instruct or chat.']),
    '',
    `Put this under models: in ${configured ?? 'tollgate.yaml'}, with your own prices per million tokens, and start again:`,
    '',
    'models:',
    `  - id: ${id}`,
    ...Object.entries({ ...settings, file: JSON.stringify(file) }).map(([name, value]) => `    ${name}: ${value}`),
    `    price: { input: "0.10"${makesText ? ', output: "0.40"' : ''} }`,
    '',
    ...(configured === null
      ? [`A list of models replaces the default one: list ${models.map((each) => each.id).join(', ')} too to keep it.`]
      : []),
    `To measure its speed on this machine:  ./tollgate model check ${file}`,
  ]
}

function toJson(pulled: PulledModel): object {
  const { file, bytes, sha256, comparedWith, model } = pulled
  return {
    file,
    bytes,
    sha256,
    checksum_compared_with: comparedWith,
    architecture: model.architecture,
    trained_context: model.trainedContext,
    chat_template: model.hasChatTemplate,
    settings: settingsOf(pulled),
  }
}
