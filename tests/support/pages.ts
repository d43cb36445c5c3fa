import { execFile } from 'node:child_process'
import path from 'node:path'

const program = path.join(import.meta.dirname, '../../src/main.ts')

/** The items of `all` that are not in `present`. */
export function missingFrom(all: readonly string[], present: Iterable<string>): string[] {
  const found = new Set(present)
  return all.filter((each) => !found.has(each))
}

/** The first group of each match. */
export function allMatches(text: string, shape: RegExp): string[] {
  return [...text.matchAll(shape)].map(([, match]) => match ?? '')
}

/** The `./tollgate` lines in a page's fenced blocks that `--help` does not know. */
export async function unknownCommands(markdown: string): Promise<string[]> {
  const blocks = allMatches(markdown, /^ *```\w*\n(.*?)^ *```$/gms)
  const lines = blocks.flatMap((block) => [...block.matchAll(/(?<=^|[\s|$(])\.\/tollgate ([^|\n)]*)/gm)])
  const commands = new Set(lines.map(([, command]) => (command ?? '').replace(/\s+#.*$|→.*$/, '').trim()))
  const verdicts = await Promise.all([...commands].map(async (command) => ((await isKnown(command)) ? [] : [command])))
  return verdicts.flat()
}

async function isKnown(command: string): Promise<boolean> {
  const words = command.split(/\s+/)
  const first = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  const names = first === -1 ? words : words.slice(0, first)
  const help = await helpOf(names)
  const [, usage, rest] = /^Usage: tollgate((?: [a-z-]+)*)(.*)$/m.exec(help) ?? []
  if (usage === undefined || rest === undefined) return false
  const found = usage.split(' ').slice(1)
  const isNamed = found.length > 0 && found.every((name, index) => names[index] === name)
  const takesMore = found.length === names.length || /<|\[(?!options|command)/.test(rest)
  const options = words.filter((word) => word.startsWith('-')).map((word) => word.split('=')[0] ?? word)
  return isNamed && takesMore && missingFrom(options, help.split(/[\s,]+/)).length === 0
}

function helpOf(names: readonly string[]): Promise<string> {
  const argv = [program, ...names, '--help']
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { env: {} }, (_error, stdout) => resolve(stdout))
  })
}
