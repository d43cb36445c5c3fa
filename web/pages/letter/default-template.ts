import type { DraftRequest, Template } from './wire.ts'

/**
 * The template that a first draft starts with: about disputes alone, the default of a kind that names disputes, otherwise
 * that of a kind that does not. Without such a kind, the first default of any.
 */
export function defaultFor(
  { notes, disputes }: Pick<DraftRequest, 'notes' | 'disputes'>,
  templates: readonly Template[],
): Template | undefined {
  const defaults = templates.filter((each) => each.is_default)
  const isAboutDisputes = disputes.length > 0 && notes.length === 0
  return defaults.find(({ kind }) => /dispute/i.test(kind) === isAboutDisputes) ?? defaults[0]
}
