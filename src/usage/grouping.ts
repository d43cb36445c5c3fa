import { Problem } from '../platform/problems.ts'
import type { Dimension } from './figures.ts'

/** Reads what to group by, such as `day,model`. Throws Problem `invalid_field`. */
export function dimensionsOf(text: string | undefined, known: readonly Dimension[]): Dimension[] {
  const named = [...new Set((text ?? 'day').split(','))]
  const dimensions = known.filter((dimension) => named.includes(dimension))
  if (dimensions.length === named.length) return dimensions
  const choices = known.join(', ')
  throw new Problem('invalid_field', `The field by must be one or more of these, separated by commas: ${choices}.`, {
    field: 'by',
  })
}

/** The maximum number of rows of one report. */
export const mostRows = 10_000

export const tooManyRows = (): Problem =>
  new Problem('invalid_field', `This report has more than ${mostRows} rows. Choose fewer days or fewer groups.`, {
    field: 'by',
  })
