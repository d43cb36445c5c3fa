const definition =
  /^drop function (?<dropped>\w+)|^create (?:or replace )?function (?<name>\w+)\((?:(?!^create )[^])*?\bas\s+(?<quote>\$\w*\$)(?<body>[^]*?)\k<quote>/gm

/**
 * The body of each function that SQL statements create, by name; a later definition replaces an earlier one. Leaves out functions that the migrations build at run time (indented): their text differs between databases.
 */
export function functionsOf(sql: string): Map<string, string> {
  const functions = new Map<string, string>()
  for (const { groups = {} } of sql.matchAll(definition)) {
    const { dropped, name, body } = groups
    if (dropped !== undefined) functions.delete(dropped)
    if (name !== undefined && body !== undefined) functions.set(name, body)
  }
  return functions
}
