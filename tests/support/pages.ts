import { tollgateHere } from './command-line.ts'

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

/** Every command of the command line that is not just a group of others, as `key create`. */
export async function allCommands(names: readonly string[] = []): Promise<string[]> {
  const [, list = ''] = (await helpOf(names)).split('\nCommands:\n')
  const inside = allMatches(list, /^ {2}([a-z][a-z-]*)/gm).filter((name) => name !== 'help')
  if (inside.length === 0) return [names.join(' ')]
  return (await Promise.all(inside.map((name) => allCommands([...names, name])))).flat()
}

/** Those of the commands that the pages do not name in code, neither after `tollgate` nor alone. */
export function unmentionedCommands(commands: readonly string[], markdown: string): string[] {
  const code = allMatches(markdown, /(^ *```\w*\n.*?^ *```$|`[^`\n]+`|^ {4}[^\n]+$)/gms).join('\n')
  return commands.filter((command) => !new RegExp(`(?:/tollgate |\`)${command}(?![\\w-])`).test(code))
}

async function helpOf(names: readonly string[]): Promise<string> {
  return (await tollgateHere([...names, '--help'], {})).stdout
}
