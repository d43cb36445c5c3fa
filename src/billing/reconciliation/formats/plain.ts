import { quoted } from '../../../platform/text/one-line.ts'
import { measureNames } from '../vendor-row.ts'
import { columnsOf, type ExportFormat } from './export-format.ts'

const tokenKinds = measureNames.filter((name) => name !== 'requests')

/** Tollgate's own format, for vendors that this version does not know: docs/operating.md describes it. */
export const plain: ExportFormat = {
  name: 'a plain usage file',
  recognised: ['day', 'model', 'kind', 'tokens'],
  columns: columnsOf({ read: ['day', 'model', 'kind', 'tokens', 'requests'], label: [], other: [] }),
  read(cells) {
    const kind = cells.required('kind')
    const measure = tokenKinds.find((name) => name === kind)
    if (measure === undefined) throw new RangeError(`kind is ${quoted(kind)}, but must be ${tokenKinds.join(', ')}`)
    cells.required('tokens')
    const hasRequests = cells.text('requests') !== ''
    return {
      model: cells.required('model'),
      ...cells.day('day'),
      counts: { [measure]: cells.count('tokens'), ...(hasRequests && { requests: cells.count('requests') }) },
      apart: hasRequests ? [measure, 'requests'] : [measure],
    }
  },
}
