/** The most pages that one draft reads of a document. */
export const mostPages = 200

/** `1-3, 7` → 1, 2, 3, 7. Undefined without a page, and for any other text. */
export function pagesIn(text: string): number[] | undefined {
  const ranges = text.split(',').map((part) => /^\s*(\d{1,4})\s*(?:[-–]\s*(\d{1,4})\s*)?$/.exec(part))
  const pages = ranges.flatMap((range) => {
    if (range === null) return [Number.NaN]
    const [from, to] = [Number(range[1]), Number(range[2] ?? range[1])]
    return from < 1 || to < from ? [Number.NaN] : Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
  return pages.some(Number.isNaN) || pages.length > mostPages ? undefined : [...new Set(pages)]
}

/** 1, 2, 3, 7 → `1-3, 7`. */
export function pagesText(pages: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const page of pages) {
    const last = ranges.at(-1)
    if (last && page === last[1] + 1) last[1] = page
    else ranges.push([page, page])
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ')
}
