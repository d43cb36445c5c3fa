import { Command, InvalidArgumentError } from 'commander'

/** What every command takes. */
export interface CommonOptions {
  readonly json?: true
}

/** A command with what all have: `--json`, and help that ends in an example. */
export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print one JSON document on stdout, everything else on stderr')
    .addHelpText('after', `\nExample:\n  $ ./tollgate ${example}`)
}

/** A command that only has commands below it. */
export function group(name: string, description: string, commands: readonly Command[]): Command {
  const parent = new Command(name).description(description)
  for (const below of commands) parent.addCommand(below)
  return parent
}

/** How an argument is read: what `parse` throws as a RangeError is wrong usage, exit status 2. */
export function argument<Value>(parse: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return parse(text)
    } catch (error) {
      if (error instanceof RangeError) throw new InvalidArgumentError(`It ${error.message}.`)
      throw error
    }
  }
}

const largestCount = 2 ** 31 - 1

/** A whole number from 1 to the largest integer of the database. Throws a RangeError. */
export function parseCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(count >= 1 && count <= largestCount)) throw new RangeError(`must be a whole number from 1 to ${largestCount}`)
  return count
}

/** `a, b` → its parts. */
export function parseList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.includes('')) throw new RangeError('must be names with commas between them')
  return [...new Set(parts)]
}
