/**
 * The rules of ARCHITECTURE.md about imports, names and contents of source files. They are functions of a tree of files, so
 * that they can be tested on trees that break them.
 */
import { posix as path } from 'node:path'

/** The text of each source file, by its path in the repository: `src/billing/till/till.ts`. */
export type SourceTree = ReadonlyMap<string, string>

/** The layers from top to bottom: a file imports from its own layer and from those below. */
export interface Architecture {
  readonly layers: readonly { readonly name: string; readonly contains: (file: string) => boolean }[]
  /** The files that each feature, named by its folder, lets others import. Layers above it also import its `open.ts`. */
  readonly entryPoints: Readonly<Record<string, readonly string[]>>
  /** The files that may read the environment. */
  readonly environment: readonly string[]
  /** Files with SQL that are not named as stores. */
  readonly sql: readonly string[]
}

/** A broken rule, as `src/a.ts: why`. */
export type Violation = string

export function violations(tree: SourceTree, architecture: Architecture): Violation[] {
  return [...tree].flatMap(([file, text]) => [
    ...badNames(file),
    ...forbiddenContents(file, text, architecture),
    ...importsOf(file, text).flatMap((target) => forbiddenImports(file, target, tree, architecture)),
  ])
}

/** The files of each group that import one another in a circle. Imports of types count. */
export function cycles(tree: SourceTree): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  function visit(file: string, trail: readonly string[]): void {
    const start = trail.indexOf(file)
    if (start >= 0) found.push([...trail.slice(start), file])
    if (start >= 0 || done.has(file)) return
    for (const target of importsOf(file, tree.get(file) ?? '')) visit(target, [...trail, file])
    done.add(file)
  }
  for (const file of tree.keys()) visit(file, [])
  return found
}

/** Names that two features export for different things, as `Name: src/a/b.ts, src/c/d.ts`. */
export function ambiguousNames(tree: SourceTree): string[] {
  const exported = [...tree].flatMap(([file, text]) =>
    [...withoutComments(text).matchAll(/^export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm)].map(
      ([, name = '']) => ({ name, file, feature: file.split('/')[1] ?? '' }),
    ),
  )
  return [...Map.groupBy(exported, ({ name }) => name)]
    .filter(([, places]) => new Set(places.map(({ feature }) => feature)).size > 1)
    .map(([name, places]) => `${name}: ${places.map(({ file }) => file).join(', ')}`)
}

/** Exported types whose whole name is a participle, which does not say what the thing is, as `Name: src/a/b.ts`. */
export function namelessTypes(tree: SourceTree): string[] {
  return [...tree].flatMap(([file, text]) =>
    [...withoutComments(text).matchAll(/^export (?:interface|type|class) ([A-Z][a-z]*(?<!e)(?:ed|en))\b/gm)].map(
      ([, name = '']) => `${name}: ${file}`,
    ),
  )
}

/** Imports that bring code from `src/` into the pages, as `web/a.ts: src/b.ts`. Types are erased and may be imported. */
export function runtimeImportsOf(pages: SourceTree, folder: string): string[] {
  return [...pages].flatMap(([file, text]) =>
    importsOf(file, withoutComments(text).replaceAll(typeImport, ''))
      .filter((target) => target.startsWith(folder))
      .map((target) => `${file}: ${target}`),
  )
}

/** Property tests whose cases are not those of `draws()`, as `src/a.test.ts: fc.assert(…)`. */
export function otherDraws(tests: SourceTree): Violation[] {
  return [...tests].flatMap(([file, text]) =>
    callsOf(/\bfc\.(?:assert|check|sample)\(/g, withoutComments(text).replaceAll(literal, "''"))
      .filter((call) => !/\bdraws\(/.test(call))
      .map((call) => `${file}: ${call.replaceAll(/\s+/g, ' ').slice(0, 60)}`),
  )
}

const clock = String.raw`(?:performance\.now|Date\.now|realNow)\(\)`

/**
 * Durations that a test measures, and its use of processor and memory, as `src/a.test.ts: end - began`. A difference to a number
 * is none: it is a time in the past.
 */
export function measurements(tests: SourceTree): Violation[] {
  return [...tests].flatMap(([file, text]) => {
    const code = withoutComments(text).replaceAll(literal, "''")
    const times = [...code.matchAll(new RegExp(String.raw`(?:const|let) (\w+) = ${clock}\s`, 'g'))].map(
      ([, name]) => name,
    )
    const time = String.raw`(?:${[clock, ...times.map((name) => String.raw`\b${name}\b`)].join('|')})`
    const measured = String.raw`${time}\)*\s-\s(?!\d)|\s-\s\(*${time}|process\.(?:cpuUsage|memoryUsage|resourceUsage|hrtime)`
    return [...code.matchAll(new RegExp(`.*(?:${measured}).*`, 'g'))].map(([line]) => `${file}: ${line.trim()}`)
  })
}

/** Each call that the pattern begins, to its closing parenthesis. */
function callsOf(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].map(({ 0: start, index }) => {
    let end = index + start.length
    for (let open = 1; open > 0 && end < text.length; end++) {
      if (text[end] === '(') open += 1
      if (text[end] === ')') open -= 1
    }
    return text.slice(index, end)
  })
}

const typeImport = /(?:^|(?<=[\n;]))\s*(?:import|export)\s+type\b[^'"`;]*?\bfrom\s*(['"])[^'"\n]*\1/g

/** The files that a file imports in any way: statically, types only, for their effect, re-exported, or on demand. */
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

function badNames(file: string): Violation[] {
  const vague = /(?:^|[/-])(?:utils?|helpers?|common|shared|misc|services?|managers?)(?:\.ts|\/)/.test(file)
  return [
    ...(vague && path.dirname(file) !== 'src' ? [`${file}: its name says nothing`] : []),
    ...(path.basename(file) === 'index.ts' ? [`${file}: a barrel`] : []),
  ]
}

function forbiddenContents(file: string, text: string, { environment, sql }: Architecture): Violation[] {
  const bare = withoutComments(text)
  const plain = bare.replaceAll(literal, "''")
  const readsEnvironment = /\bprocess\s*(?:\.\s*env\b|\[\s*['"`]env)|\benv\b[^;'"`]*\}\s*from\s*'node:process'/
  const isStore = /(?:^|-)store\.ts$|^verify\.ts$/.test(path.basename(file)) || sql.includes(file)
  return [
    ...(readsEnvironment.test(bare) && !environment.includes(file) ? [`${file}: reads the environment`] : []),
    ...(/(?:[:<,|&(=]|\bas)\s*any\b(?!\s*:)/.test(plain) ? [`${file}: has an any`] : []),
    ...(/\bexport\s*\*/.test(plain) ? [`${file}: a barrel`] : []),
    ...(hasSql(bare) && !isStore ? [`${file}: has SQL and is no store`] : []),
  ]
}

function hasSql(bare: string): boolean {
  const statement =
    /^.\s*(?:select\s[^]*\b(?:from|where)\s|select \w+\(|insert into\s|update \w+\s[^]*\bset\s|delete from\s|with \w+ as\b|(?:create|alter|drop|truncate) (?:table|role|schema|index)\s)/i
  return (bare.match(literal) ?? []).some((text) => statement.test(text))
}

function forbiddenImports(file: string, target: string, tree: SourceTree, architecture: Architecture): Violation[] {
  if (!tree.has(target)) return [`${file}: imports ${target}, which is not a source file`]
  const [from, to] = [layerOf(file, architecture), layerOf(target, architecture)]
  if (to < from) return [`${file}: imports ${target} of a layer above`]
  const [own, other] = [featureOf(file, architecture), featureOf(target, architecture)]
  if (other === undefined || own === other) return []
  if (/(?:^|-)store\.ts$/.test(path.basename(target))) return [`${file}: imports the store of ${other}`]
  const inside = path.relative(`src/${other}`, target)
  if (inside === 'open.ts') return own === undefined ? [] : [`${file}: opens ${other}, which the service does`]
  return architecture.entryPoints[other]?.includes(inside) === true
    ? []
    : [`${file}: imports ${target}, which is no entry point of ${other}`]
}

/** The index of a file's layer, from the top. Throws if it has none or several: then the table of layers is wrong. */
function layerOf(file: string, { layers }: Architecture): number {
  const containing = layers.filter(({ contains }) => contains(file))
  if (containing[0] === undefined || containing.length > 1) throw new Error(`${file} is in ${containing.length} layers`)
  return layers.indexOf(containing[0])
}

function featureOf(file: string, { entryPoints }: Architecture): string | undefined {
  const folder = file.split('/')[1] ?? ''
  return Object.hasOwn(entryPoints, folder) ? folder : undefined
}

const literal = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g
const commentOrLiteral = new RegExp(`/\\*[\\s\\S]*?\\*/|//[^\\n]*|${literal.source}`, 'g')

/** A comment can contain a quote, and a string two slashes: whichever begins first decides. */
function withoutComments(text: string): string {
  return text.replaceAll(commentOrLiteral, (match) => (/^\/[/*]/.test(match) ? ' ' : match))
}
