/** Milliseconds. */
const firstPause = 500
export const longestPause = 30_000

/** Milliseconds before the restart after `ends` ends in a row. The first restart is immediate. */
export function pauseAfter(ends: number): number {
  return ends <= 1 ? 0 : Math.min(longestPause, firstPause * 2 ** (ends - 2))
}
