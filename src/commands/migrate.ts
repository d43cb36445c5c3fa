import type { Command } from 'commander'
import { command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { writeJson, writeLines } from './output/output.ts'

export function migrateCommand(context: Context): Command {
  return command('migrate', 'Migrate the database to this version', 'migrate').action(
    async ({ json }: CommonOptions) => {
      const { migrate } = await import('../platform/database/migrations.ts')
      const url = await context.databaseUrl()
      const applied = await migrate(url, { onWait: (line) => void context.stderr.write(`${line}\n`) })
      if ((await context.config()).mail) {
        const { migrateMailQueue } = await import('../mail/open.ts')
        await migrateMailQueue(url, await context.log())
      }
      if (json) return writeJson(context, { applied })
      if (applied.length === 0) return writeLines(context, 'The database is up to date.')
      return writeLines(context, ...applied.map((name) => `Applied ${name}.`))
    },
  )
}
