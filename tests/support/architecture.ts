/**
 * The rules of ARCHITECTURE.md on who may import whom and what a source file may not hold, as functions of a tree of
 * files, so that the rules themselves can be tested on trees that break them.
 */
import { posix as path } from 'node:path'

/** The text of source files by their path in the repository: `src/billing/till.ts`. */
export type Tree = ReadonlyMap<string, string>

/** The layers from the top down: a file imports from its own layer and from those below. */
export interface House {
  readonly layers: readonly { readonly name: string; readonly holds: (file: string) => boolean }[]
  /** What a feature, named by its folder, lets others import. */
  readonly doors: Readonly<Record<string, readonly string[]>>
  /** The files that may read the environment. */
  readonly environment: readonly string[]
}

/** A broken rule: `src/a.ts: why`. */
export type Violation = string

export function violations(tree: Tree, house: House): Violation[] {
  return [...tree].flatMap(([file, text]) => [
    ...misnamed(file),
    ...forbidden(file, text, house),
    ...importsOf(file, text).flatMap((target) => misdirected(file, target, tree, house)),
  ])
}

/**
 * The files of each cycle of imports that run, from one of its files round to the same. Two files may know each other's
 * types: that is gone before anything runs.
 */
export function cycles(tree: Tree): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  function visit(file: string, trail: readonly string[]): void {
    const start = trail.indexOf(file)
    if (start >= 0) found.push([...trail.slice(start), file])
    if (start >= 0 || done.has(file)) return
    const text = (tree.get(file) ?? '').replaceAll(typeImport, '')
    for (const target of importsOf(file, text)) visit(target, [...trail, file])
    done.add(file)
  }
  for (const file of tree.keys()) visit(file, [])
  return found
}

const typeImport = /(?:^|(?<=[\n;]))\s*(?:import|export)\s+type\b[^'"`;]*?\bfrom\s*(['"])[^'"\n]*\1/g

/** The files of ours that a file imports in any way: statically, for types alone, for effect, again for export, on demand. */
export function importsOf(file: string, text: string): string[] {
  const bare = withoutComments(text)
  const statements = [
    /(?:^|[\n;])\s*(?:import|export)\b[^'"`;]*?\bfrom\s*(['"])(?<from>\.[^'"\n]*)\1/g,
    /(?:^|[\n;])\s*import\s*(['"])(?<from>\.[^'"\n]*)\1/g,
    /\bimport\(\s*(['"`])(?<from>\.[^'"`\n]*)\1\s*\)/g,
  ]
  const sources = statements.flatMap((pattern) =>
    [...bare.matchAll(pattern)].map(({ groups }) => groups?.['from'] ?? ''),
  )
  return sources.map((source) => path.join(path.dirname(file), source))
}

function misnamed(file: string): Violation[] {
  const drawer = /(?:^|[/-])(?:utils?|helpers?|common|shared|misc|services?|managers?)(?:\.ts|\/)/.exec(file)
  const barrel = path.basename(file) === 'index.ts'
  return [
    ...(drawer !== null && !isRoot(file) ? [`${file}: named for no one thing`] : []),
    ...(barrel ? [`${file}: a barrel`] : []),
  ]
}

function forbidden(file: string, text: string, house: House): Violation[] {
  const bare = withoutComments(text)
  const plain = bare.replaceAll(literal, "''")
  const readsEnvironment = /\bprocess\s*(?:\.\s*env\b|\[\s*['"`]env)|\benv\b[^;'"`]*\}\s*from\s*'node:process'/.test(
    bare,
  )
  return [
    ...(readsEnvironment && !house.environment.includes(file) ? [`${file}: reads the environment`] : []),
    ...(/(?:[:<,|&(=]|\bas)\s*any\b(?!\s*:)/.test(plain) ? [`${file}: has an any`] : []),
    ...(/\bexport\s*\*/.test(plain) ? [`${file}: a barrel`] : []),
  ]
}

function misdirected(file: string, target: string, tree: Tree, house: House): Violation[] {
  if (!tree.has(target)) return [`${file}: imports ${target}, which is not a source file`]
  const [from, to] = [layerOf(file, house), layerOf(target, house)]
  if (to < from) return [`${file}: imports ${target} of a layer above`]
  const [own, other] = [featureOf(file, house), featureOf(target, house)]
  if (other === undefined || own === other) return []
  if (/(?:^|-)store\.ts$/.test(path.basename(target))) return [`${file}: imports the store of ${other}`]
  const inside = path.relative(`src/${other}`, target)
  return house.doors[other]?.includes(inside) === true
    ? []
    : [`${file}: imports ${target}, which is no door of ${other}`]
}

/** The index of a file's layer, from the top. Throws when it has none or several: the table of layers is at fault. */
function layerOf(file: string, house: House): number {
  const holding = house.layers.filter(({ holds }) => holds(file))
  if (holding[0] === undefined || holding.length > 1) throw new Error(`${file} is in ${holding.length} layers`)
  return house.layers.indexOf(holding[0])
}

function featureOf(file: string, house: House): string | undefined {
  const folder = file.split('/')[1] ?? ''
  return Object.hasOwn(house.doors, folder) ? folder : undefined
}

function isRoot(file: string): boolean {
  return path.dirname(file) === 'src'
}

const literal = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g
const commentOrLiteral = new RegExp(`/\\*[\\s\\S]*?\\*/|//[^\\n]*|${literal.source}`, 'g')

/** A comment can hold a quote, and a text two slashes: whichever begins first decides. */
function withoutComments(text: string): string {
  return text.replaceAll(commentOrLiteral, (match) => (/^\/[/*]/.test(match) ? ' ' : match))
}
