import { Command, InvalidArgumentError } from 'commander'

/** The options of every command. */
export interface CommonOptions {
  readonly json?: true
}

/** A command with `--json`, and help that ends with an example. */
export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print one JSON document on stdout, everything else on stderr')
    .addHelpText('after', `\nExample:\n  $ ./tollgate ${example}`)
}

/** A command that only has subcommands. */
export function group(name: string, description: string, commands: readonly Command[]): Command {
  const parent = new Command(name).description(description)
  for (const subcommand of commands) parent.addCommand(subcommand)
  return parent
}

/** Parses an argument. A RangeError of `parse` is a usage error, exit status 2. */
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

/** A whole number from 1 to the largest `integer` of PostgreSQL. Throws a RangeError. */
export function parseCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(count >= 1 && count <= largestCount)) throw new RangeError(`must be a whole number from 1 to ${largestCount}`)
  return count
}

/** Splits `a, b` into its parts, without duplicates. */
export function parseList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.includes('')) throw new RangeError('must be names separated by commas')
  return [...new Set(parts)]
}
