import { Command, CommanderError } from 'commander'
import { hiddenIn } from '../platform/text/one-line.ts'
import { OperatorError, Problem } from '../platform/problems.ts'
import { version } from '../platform/version.ts'
import { createContext, type Context, type ContextNeeds } from './context.ts'

type MakeCommand = (context: Context) => Command

/** The commands by name. Each file is loaded when its command runs. */
const commands: ReadonlyMap<string, () => Promise<MakeCommand>> = new Map<string, () => Promise<MakeCommand>>([
  ['start', async () => (await import('./start/start.ts')).startCommand],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand],
  ['account', async () => (await import('./account.ts')).accountCommand],
  ['key', async () => (await import('./key.ts')).keyCommand],
  ['budget', async () => (await import('./budget.ts')).budgetCommand],
  ['batch', async () => (await import('./batch.ts')).batchCommand],
  ['person', async () => (await import('./person/person.ts')).personCommand],
  ['client', async () => (await import('./client.ts')).clientCommand],
  ['model', async () => (await import('./model/model.ts')).modelCommand],
  ['price', async () => (await import('./price/price.ts')).priceCommand],
  ['usage', async () => (await import('./usage.ts')).usageCommand],
  ['ledger', async () => (await import('./ledger.ts')).ledgerCommand],
  ['reconcile', async () => (await import('./reconcile.ts')).reconcileCommand],
  ['invoice', async () => (await import('./invoice/invoice.ts')).invoiceCommand],
  ['verify', async () => (await import('./verify.ts')).verifyCommand],
  ['doctor', async () => (await import('./doctor/doctor.ts')).doctorCommand],
])

/**
 * Runs one command line. Returns the exit status: 0 for success, 1 for a refusal or failure with the reason on stderr,
 * 2 for a usage error. Never throws.
 */
export async function runCommand(argv: readonly string[], needs: ContextNeeds): Promise<number> {
  const context = createContext(needs)
  const status = await statusOf(execute(argv, context), context)
  return Math.max(status, await statusOf(context.close(), context))
}

async function statusOf(work: Promise<void>, context: Context): Promise<number> {
  try {
    await work
    return 0
  } catch (reported) {
    // Commander's exit code is 1 for every usage error, and for the help that follows a line without a command.
    if (reported instanceof CommanderError) return reported.exitCode === 0 ? 0 : 2
    const error = await context.faultOf(reported)
    const known = error instanceof OperatorError || error instanceof Problem
    const reason = error instanceof Error ? error.message : String(error)
    context.stderr.write(known ? `${reason}${causeOf(error)}\n` : `Unexpected error: ${reason.split('\n')[0]}\n`)
    return 1
  }
}

/** The cause of a Problem, which callers of the API do not see. */
function causeOf(error: unknown): string {
  const cause = error instanceof Problem ? error.cause : undefined
  return cause instanceof Error && cause.message !== '' ? ` (${cause.message.split('\n')[0]})` : ''
}

async function execute(argv: readonly string[], context: Context): Promise<void> {
  const program = new Command('tollgate')
    .description('A metered text-generation API and a client-record portal for a professional firm.')
    .version(version)
  const named = commands.get(argv[0] ?? '')
  for (const load of named === undefined ? commands.values() : [named]) program.addCommand((await load())(context))
  direct(program, context)
  const unprintable = unprintableIn(argv)
  if (unprintable !== undefined) program.error(`error: ${unprintable}: write it as one line of plain text`)
  let ran = program
  program.hook('preAction', (_, command) => {
    ran = command
  })
  await program.parseAsync(argv, { from: 'user' }).catch((error: unknown) => {
    throw error instanceof Problem ? withOption(error, ran) : error
  })
}

/** The same Problem, but if it is about a field of the API that an option of the command sets, it names the option. */
function withOption(problem: Problem, { options }: Command): Problem {
  const { code, message, details } = problem
  const { field = '' } = details
  const option = `--${field.replaceAll('_', '-')}`
  if (!options.some(({ long }) => long === option)) return problem
  return new Problem(code, message.replace(`The field ${field} `, `${option} `), details)
}

/**
 * Names the first argument that contains an unprintable character, and the character. Never repeats the argument: it may
 * be a secret, or an escape sequence that a terminal executes.
 */
function unprintableIn(argv: readonly string[]): string | undefined {
  const index = argv.findIndex((text) => hiddenIn(text) !== undefined)
  if (index === -1) return undefined
  const before = argv[index - 1] ?? ''
  return `${before.startsWith('--') ? `the value of ${before}` : 'an argument'} has ${hiddenIn(argv[index] ?? '')}`
}

/** Makes a command and its subcommands throw instead of ending the process, and write to the context's streams. */
function direct(command: Command, { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: (text) => void stderr.write(text),
  })
  for (const subcommand of command.commands) direct(subcommand, { stdout, stderr })
}
