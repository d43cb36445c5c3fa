import { Problem } from '../platform/problems.ts'

/** The ETag of a record: the version of its own fields, which If-Match brings back with a change. */
export function etagOf({ version }: { readonly version: number }): string {
  return `"${version}"`
}

/** The versions that a change may be based on; null for any that is there (`*`). */
export type Basis = readonly number[] | null

/**
 * Reads If-Match (RFC 9110 section 13.1.1). A proxy that compresses makes `W/"3"` of our `"3"`: it is the same version.
 * Throws Problem `precondition_required` without one, `invalid_field` when it is none of ours.
 */
export function basisOf(header: string | undefined): Basis {
  if (header === undefined) {
    throw new Problem('precondition_required', 'Send If-Match with the ETag that the record had when you read it.')
  }
  if (header.trim() === '*') return null
  // Empty elements of a list are to be ignored (section 5.6.1).
  const tags = header.split(',').flatMap((tag) => tag.trim() || [])
  if (tags.length === 0) throw notOurs()
  return tags.map((tag) => {
    const digits = /^(?:W\/)?"(0|[1-9]\d{0,8})"$/.exec(tag)?.[1]
    if (digits === undefined) throw notOurs()
    return Number(digits)
  })
}

function notOurs(): Problem {
  return new Problem(
    'invalid_field',
    'The header If-Match must be an ETag that the record had: "3", with the quotes.',
    {
      field: 'If-Match',
    },
  )
}

/** The same for what overwrites nothing, and so may come without If-Match. */
export function basisIfAny(header: string | undefined): Basis {
  return header === undefined ? null : basisOf(header)
}

/** As PostgreSQL takes it. */
export function basisText(basis: Basis): string | null {
  return basis && `{${basis.join(',')}}`
}
