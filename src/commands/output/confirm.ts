import type { Context } from '../context.ts'

/** Whether somebody sits at a terminal and can answer. */
export function canAsk({ stdin }: Pick<Context, 'stdin'>): boolean {
  return stdin !== undefined && 'isTTY' in stdin && stdin.isTTY === true
}

/** Asks a question on stderr. Anything but `y` or `yes` means no, as does the end of the input. */
export async function confirm(
  { stdin, stderr }: Pick<Context, 'stdin' | 'stderr'>,
  question: string,
): Promise<boolean> {
  if (stdin === undefined) return false
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: stdin, output: stderr })
  const { promise, resolve } = Promise.withResolvers<string>()
  lines.on('close', () => resolve('')).question(`${question} [y/N] `, resolve)
  const answer = await promise
  lines.close()
  return /^\s*y(?:es)?\s*$/i.test(answer)
}
