import { createPdfWork, readObjects, type PdfWork } from './pdf-objects.ts'
import { Reference, UnclearPdf, type PdfValue } from './pdf-values.ts'

export { createPdfWork, type PdfWork }

/**
 * Counts the pages of a PDF (ISO 32000-2, section 7.7.3), as often as each is listed. Of a file with earlier versions, it counts the
 * longest. Returns at most `limit` + 1. Returns undefined for bytes that do not begin and end as a PDF, and where the pages cannot be
 * counted for certain: the file is broken, has a password or syntax that programs read differently, or takes more than the work that is left.
 */
export function countPdfPages(bytes: Buffer, limit: number, work: PdfWork = createPdfWork()): number | undefined {
  if (!bytes.subarray(0, 1024).includes('%PDF-') || !bytes.subarray(-1024).includes('%%EOF')) return undefined
  try {
    const trees = new PageTrees()
    readObjects(bytes, work, (number, value) => trees.add(number, value))
    const pages = trees.mostPages(limit + 1)
    return pages > 0 ? pages : undefined
  } catch (error) {
    if (error instanceof UnclearPdf) return undefined
    throw error
  }
}

/** More levels than any program writes. */
const mostLevels = 64

class PageTrees {
  readonly #roots = new Set<number>()
  /** The versions of each object that can be a node, a list of nodes or a reference to one. All others are pages. */
  readonly #versions = new Map<number, PdfValue[]>()
  readonly #counted = new Map<number, number>()

  add(number: number | undefined, value: PdfValue): void {
    if (value instanceof Map) this.#addRoot(value.get('Root'), value.get('Pages'))
    if (number === undefined || !mayHavePages(value)) return
    const versions = this.#versions.get(number)
    if (versions) versions.push(value)
    else this.#versions.set(number, [value])
  }

  /** The catalog and the root of the tree are objects of their own. */
  #addRoot(catalog: PdfValue | undefined, pages: PdfValue | undefined): void {
    if (catalog instanceof Map || pages instanceof Map) throw new UnclearPdf()
    if (pages instanceof Reference) this.#roots.add(pages.object)
  }

  mostPages(most: number): number {
    let pages = 0
    for (const root of this.#roots) pages = Math.max(pages, this.#pagesOf(root, 0))
    return Math.min(pages, most)
  }

  /** Counts an object with several versions as one page at least, since one of them can be a page. */
  #pagesOf(number: number, level: number): number {
    const counted = this.#counted.get(number)
    if (counted !== undefined) return counted
    // A node that contains itself gets here too.
    if (level > mostLevels) throw new UnclearPdf()
    let pages = 1
    for (const each of this.#versions.get(number) ?? []) pages = Math.max(pages, this.#pagesIn(each, level + 1))
    this.#counted.set(number, pages)
    return pages
  }

  #pagesIn(value: PdfValue | undefined, level: number): number {
    if (value instanceof Map) return this.#pagesIn(value.get('Kids'), level)
    if (value instanceof Reference) return this.#pagesOf(value.object, level)
    if (!isList(value)) throw new UnclearPdf()
    return value.reduce<number>((sum, each) => {
      if (!(each instanceof Reference)) throw new UnclearPdf()
      return sum + this.#pagesOf(each.object, level)
    }, 0)
  }
}

const isList = (value: PdfValue | undefined): value is readonly PdfValue[] => Array.isArray(value)

const mayHavePages = (value: PdfValue): boolean =>
  value instanceof Reference ||
  (value instanceof Map && value.has('Kids')) ||
  (isList(value) && value.some((each) => each instanceof Reference))
