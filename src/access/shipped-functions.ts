import { readFunctionFiles } from '../platform/database/function-files.ts'
import { shippedMigrations } from '../platform/database/migration-files.ts'

/** The body of each function that this version ships as a text; PostgreSQL keeps no text of a body after `return`. */
export async function readShippedFunctions(): Promise<Map<string, string>> {
  const files = await readFunctionFiles(shippedMigrations)
  return new Map(files.flatMap(({ name, sql }) => bodyOf(sql).map((body) => [name, body])))
}

/** Between its dollar quotes. */
function bodyOf(sql: string): string[] {
  const body = /\bas\s+(?<quote>\$\w*\$)(?<body>[^]*?)\k<quote>/.exec(sql)?.groups?.['body']
  return body === undefined ? [] : [body]
}
