/** Whether what a client accepts (RFC 9110 section 12.5.1) makes it a person with a browser: a page before JSON. */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = accept.split(',').map(read)
  const page = wish(ranges, 'text', 'html')
  const json = wish(ranges, 'application', 'json')
  if (page.weight !== json.weight) return page.weight > json.weight
  return page.weight > 0 && page.precision > json.precision
}

interface Range {
  readonly type: string
  readonly subtype: string
  readonly weight: number
}

function read(range: string): Range {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const [type = '', subtype = ''] = name.split('/')
  const weight = parameters.find((each) => each.startsWith('q='))?.slice(2)
  return { type, subtype, weight: weight === undefined ? 1 : Number(weight) || 0 }
}

/** The range that speaks of a media type most precisely: itself, its kind, or anything. */
function wish(ranges: readonly Range[], type: string, subtype: string): { weight: number; precision: number } {
  const candidates = [
    { precision: 2, range: ranges.find((each) => each.type === type && each.subtype === subtype) },
    { precision: 1, range: ranges.find((each) => each.type === type && each.subtype === '*') },
    { precision: 0, range: ranges.find((each) => each.type === '*' && each.subtype === '*') },
  ]
  const best = candidates.find(({ range }) => range !== undefined)
  return { weight: best?.range?.weight ?? 0, precision: best?.precision ?? 0 }
}
