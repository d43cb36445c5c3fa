/** Whether PostgreSQL refused a statement because of this constraint or index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}
