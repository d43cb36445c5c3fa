import { isDeepStrictEqual } from 'node:util'
import { Document, isCollection, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import * as json from '../text/json.ts'

/** An entry of `models` as it is written in the file, with its settings in their order. */
type ModelEntry = object

/** Entries of `models` as YAML, each beginning with `- `. */
export function modelsText(entries: readonly ModelEntry[]): string {
  const document = new Document(entries, { aliasDuplicateObjects: false })
  for (const entry of isSeq(document.contents) ? document.contents.items : []) {
    for (const { value } of isMap(entry) ? entry.items : []) if (isCollection(value)) value.flow = true
  }
  return document.toString({ lineWidth: 0 })
}

/**
 * The text of a configuration file with entries after those of `models`. Every other character stays as it is, comments
 * included. Undefined if the file is written in a way that leaves no place for them, such as all in one line.
 */
export function withModels(source: string, entries: readonly ModelEntry[]): string | undefined {
  const document = parseDocument(source, { stringKeys: true, resolveKnownTags: false, logLevel: 'error' })
  const place = placeIn(source, document)
  if (document.errors.length > 0 || !place) return undefined
  const eol = source.includes('\r\n') ? '\r\n' : '\n'
  const lines = modelsText(entries).trimEnd().split('\n')
  const added = [...place.heading, ...lines.map((line) => ' '.repeat(place.indent) + line), ''].join(eol)
  const before = source.slice(0, place.at)
  const text = `${before}${before === '' || before.endsWith('\n') ? '' : eol}${added}${source.slice(place.at)}`
  return adds(document, text, entries) ? text : undefined
}

interface Place {
  readonly at: number
  readonly indent: number
  readonly heading: readonly string[]
}

function placeIn(source: string, { contents }: Document.Parsed): Place | undefined {
  // Without any setting, the file may still have comments.
  if (contents === null) return { at: source.length, indent: 2, heading: ['models:'] }
  if (!isMap(contents) || contents.flow) return undefined
  const models = contents.get('models', true)
  if (models === undefined) return afterAll(contents, source)
  return isSeq(models) && !models.flow ? afterLast(models, source) : undefined
}

function afterAll({ range }: YAMLMap.Parsed, source: string): Place {
  const column = columnOf(source, range[0])
  return { at: lineAfter(source, range[1]), indent: column + 2, heading: [`${' '.repeat(column)}models:`] }
}

/** Comments and blank lines at the end that are not indented as an entry belong to what follows. */
function afterLast({ range }: Pick<YAMLSeq, 'range'>, source: string): Place | undefined {
  if (!range) return undefined
  const indent = columnOf(source, range[0])
  let at = lineAfter(source, range[1])
  for (;;) {
    const start = source.lastIndexOf('\n', at - 2) + 1
    const line = /^( *)(#.*)?\r?\n$/.exec(source.slice(start, at))
    if (!line || (line[2] !== undefined && (line[1] ?? '').length > indent)) return { at, indent, heading: [] }
    at = start
  }
}

/** Where the next line begins; the offset itself if a line begins there. */
function lineAfter(source: string, offset: number): number {
  const end = source.indexOf('\n', offset - 1)
  return end === -1 ? source.length : end + 1
}

function columnOf(source: string, offset: number): number {
  return offset - (source.lastIndexOf('\n', offset - 1) + 1)
}

/** Whether the text has the same settings and the entries, and nothing else. */
function adds(before: Document, text: string, entries: readonly ModelEntry[]): boolean {
  const after = parseDocument(text, { stringKeys: true, resolveKnownTags: false, logLevel: 'error' })
  if (after.errors.length > 0) return false
  const old: unknown = before.toJS()
  const models = [...json.listOf(json.at(old, 'models')), ...entries]
  return isDeepStrictEqual(after.toJS(), json.isJsonObject(old) ? { ...old, models } : { models })
}
