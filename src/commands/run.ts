import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { hiddenIn } from '../platform/one-line.ts'
import { OperatorError, Problem } from '../platform/problems.ts'
import { createContext, type Context, type ContextNeeds } from './context.ts'

type MakeCommand = (context: Context) => Command

/** Each command by its name; its file is read only when it is needed. */
const commands: ReadonlyMap<string, () => Promise<MakeCommand>> = new Map<string, () => Promise<MakeCommand>>([
  ['start', async () => (await import('./start.ts')).startCommand],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand],
  ['account', async () => (await import('./account.ts')).accountCommand],
  ['key', async () => (await import('./key.ts')).keyCommand],
  ['person', async () => (await import('./person.ts')).personCommand],
  ['client', async () => (await import('./client.ts')).clientCommand],
  ['model', async () => (await import('./model.ts')).modelCommand],
  ['price', async () => (await import('./price.ts')).priceCommand],
  ['usage', async () => (await import('./usage.ts')).usageCommand],
  ['ledger', async () => (await import('./ledger.ts')).ledgerCommand],
  ['verify', async () => (await import('./verify.ts')).verifyCommand],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand],
])

/**
 * Carries out one command line. Returns the exit status: 0 done, 1 refused or failed with the reason on stderr,
 * 2 wrong usage. Never throws.
 */
export async function runCommand(argv: readonly string[], needs: ContextNeeds): Promise<number> {
  const context = createContext(needs)
  const status = await statusOf(carryOut(argv, context), context)
  return Math.max(status, await statusOf(context.close(), context))
}

async function statusOf(work: Promise<void>, { stderr }: Context): Promise<number> {
  try {
    await work
    return 0
  } catch (error) {
    // Whatever else commander ends with has exit code 1 there, also the help for a line that names no command.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const known = error instanceof OperatorError || error instanceof Problem
    const reason = error instanceof Error ? error.message : String(error)
    stderr.write(known ? `${reason}${causeOf(error)}\n` : `An unexpected fault: ${reason.split('\n')[0]}\n`)
    return 1
  }
}

/** What callers are not told of a Problem, an operator wants to know. */
function causeOf(error: unknown): string {
  const cause = error instanceof Problem ? error.cause : undefined
  return cause instanceof Error && cause.message !== '' ? ` (${cause.message.split('\n')[0]})` : ''
}

async function carryOut(argv: readonly string[], context: Context): Promise<void> {
  const program = new Command('tollgate')
    .description('A metered text-generation API and a client-record portal for a professional firm.')
    .version(versionOf(context.root))
  const named = commands.get(argv[0] ?? '')
  for (const load of named === undefined ? commands.values() : [named]) program.addCommand((await load())(context))
  direct(program, context)
  const unprintable = unprintableIn(argv)
  if (unprintable !== undefined) program.error(`error: ${unprintable}: write it as one line of plain text`)
  await program.parseAsync(argv, { from: 'user' })
}

/**
 * Which argument has what no line of text has, and what that is. It is not repeated: it may be a secret, and a terminal
 * would carry it out.
 */
function unprintableIn(argv: readonly string[]): string | undefined {
  const index = argv.findIndex((text) => hiddenIn(text) !== undefined)
  if (index === -1) return undefined
  const before = argv[index - 1] ?? ''
  return `${before.startsWith('--') ? `what follows ${before}` : 'an argument'} has ${hiddenIn(argv[index] ?? '')}`
}

/** Makes a command and those below it throw instead of ending the process, and write where the context says. */
function direct(command: Command, { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: (text) => void stderr.write(text),
  })
  for (const below of command.commands) direct(below, { stdout, stderr })
}

function versionOf(root: string): string {
  const parsed: unknown = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  return typeof parsed === 'object' && parsed !== null && 'version' in parsed ? String(parsed.version) : 'unknown'
}
