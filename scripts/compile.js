// Loads what `./tollgate start` loads into its own process, so that the runtime keeps it compiled (NODE_COMPILE_CACHE):
// the first start compiles nothing, and has no compiler of TypeScript in its memory, which takes 20 MB. The processes that
// it starts run with other flags and compile their own. Called with --version, since loading main.ts runs a command.
const modules = [
  'main',
  'commands/start',
  'service',
  'demo/provider-process',
  'platform/config/config',
  'platform/database/database',
  'platform/embedded-postgres/embedded-postgres',
  'platform/database/migrations',
]
await Promise.all(modules.map((name) => import(`../src/${name}.ts`)))

// Done now, since the user of the first start may not be allowed to write into the project.
const { findBinaries } = await import('../src/platform/embedded-postgres/binaries.ts')
await findBinaries()
