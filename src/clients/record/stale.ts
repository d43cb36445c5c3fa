import { Problem } from '../../platform/problems.ts'

/** The error for a change that is based on an older version, with the current state to compare with. */
export function stale(current: object): Problem {
  return new Problem(
    'stale_version',
    'This has changed since you read it. Compare your change with the current version, then send it again.',
    { current },
  )
}
