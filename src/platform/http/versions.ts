import { Problem } from '../problems.ts'

/** The ETag of a record: its version in quotes. */
export function etagOf({ version }: { readonly version: number }): string {
  return `"${version}"`
}

/** The versions that a change may be based on; null for any version (`*`). */
export type Basis = readonly number[] | null

/**
 * Parses If-Match (RFC 9110 section 13.1.1). It accepts the weak ETag `W/"3"`, which compressing proxies make of `"3"`.
 * Throws Problem `precondition_required` without the header, and `invalid_field` for an ETag that the service never sends.
 */
export function basisOf(header: string | undefined): Basis {
  if (header === undefined) {
    throw new Problem('precondition_required', 'Send If-Match with the ETag that the record had when you read it.')
  }
  if (header.trim() === '*') return null
  // Empty list elements are ignored (RFC 9110 section 5.6.1).
  const tags = header.split(',').flatMap((tag) => tag.trim() || [])
  if (tags.length === 0) throw badTag()
  return tags.map((tag) => {
    const digits = /^(?:W\/)?"(0|[1-9]\d{0,8})"$/.exec(tag)?.[1]
    if (digits === undefined) throw badTag()
    return Number(digits)
  })
}

function badTag(): Problem {
  return new Problem(
    'invalid_field',
    'The header If-Match must be an ETag that the record had: "3", with the quotes.',
    {
      field: 'If-Match',
    },
  )
}

/** Like `basisOf`, for requests that may omit If-Match. */
export function basisIfAny(header: string | undefined): Basis {
  return header === undefined ? null : basisOf(header)
}

/** A PostgreSQL array literal. */
export function basisText(basis: Basis): string | null {
  return basis && `{${basis.join(',')}}`
}
