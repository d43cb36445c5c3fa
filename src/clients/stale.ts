import { Problem } from '../platform/problems.ts'

/** The refusal of a change that is based on an older version. It carries what is there now, so that nothing is lost. */
export function stale(current: object): Problem {
  return new Problem(
    'stale_version',
    'Somebody has changed this since you read it. Compare your change with what is there now, and send it again.',
    { current },
  )
}
