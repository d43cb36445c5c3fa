/** Whether the error is PostgreSQL's violation of this constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}
