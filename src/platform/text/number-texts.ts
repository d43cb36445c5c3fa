/** Parses JSON in which each number becomes its text: as a float it could become another number. Throws SyntaxError. */
export function parseNumbersAsText(text: string): unknown {
  return JSON.parse(text, (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? context?.source : value,
  )
}

/** The line of a SyntaxError of `JSON.parse` in a text that begins on `line`. */
export function lineOfSyntaxError({ message }: SyntaxError, line = 1): number {
  const [, within = '1'] = /\(line (\d+)/.exec(message) ?? []
  return line + Number(within) - 1
}
