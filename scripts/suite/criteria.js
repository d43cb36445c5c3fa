/**
 * The acceptance criteria that the names of these tests contain: `A16`, or a range such as `B1–B3`.
 * @param {string[]} names
 * @returns {string[]}
 */
export function criteriaIn(names) {
  const found = names.flatMap((name) =>
    [...name.matchAll(/\b([AB])(\d+)(?:[–-]\1?(\d+))?\b/g)].flatMap(([, area, from, to = from]) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => `${area}${Number(from) + index}`),
    ),
  )
  return [...new Set(found)]
}
