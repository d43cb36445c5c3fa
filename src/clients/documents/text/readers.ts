/** The text of one page: of a PDF's page, a sheet of a workbook, or a whole file that has no pages. */
export interface TextPage {
  /** The name of a sheet; empty for other pages. */
  readonly label: string
  readonly text: string
}

type Reader = (bytes: Buffer) => AsyncIterable<TextPage>

const openXml = 'application/vnd.openxmlformats-officedocument'

/** How the text of a file is read, by its media type. Each library is loaded once it is needed. */
export const readers: Readonly<Record<string, Reader>> = {
  'application/pdf': readPdf,
  [`${openXml}.wordprocessingml.document`]: readWord,
  [`${openXml}.spreadsheetml.sheet`]: readWorkbook,
  'application/x-cfb': readOutlook,
  'text/plain': readText,
}

async function* readPdf(bytes: Buffer): AsyncGenerator<TextPage> {
  const { getDocumentProxy, extractText } = await import('unpdf')
  const pdf = await getDocumentProxy(new Uint8Array(bytes))
  const { text } = await extractText(pdf, { mergePages: false })
  for (const page of text) yield { label: '', text: page }
}

async function* readWord(buffer: Buffer): AsyncGenerator<TextPage> {
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.extractRawText({ buffer })
  yield { label: '', text: value }
}

async function* readWorkbook(bytes: Buffer): AsyncGenerator<TextPage> {
  const { default: readSheets } = await import('read-excel-file/node')
  for (const { sheet, data } of await readSheets(bytes)) {
    yield { label: sheet, text: data.map((row) => row.map(cellText).join('\t').trimEnd()).join('\n') }
  }
}

function cellText(cell: unknown): string {
  if (cell instanceof Date) return cell.toISOString().replace(/T00:00:00\.000Z$/, '')
  if (typeof cell === 'string') return cell
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : ''
}

/** A message of Outlook. Other files of this kind, such as old Word files, have no body. */
async function* readOutlook(bytes: Buffer): AsyncGenerator<TextPage> {
  const { default: library } = await import('@kenjiuno/msgreader')
  const message = new library.default(new Uint8Array(bytes).buffer).getFileData()
  if (message.body === undefined && message.subject === undefined) return
  const to = (message.recipients ?? []).map(({ name = '', smtpAddress = '' }) => `${name} ${smtpAddress}`.trim())
  yield { label: '', text: mailText({ subject: message.subject, from: message.senderName, to, text: message.body }) }
}

async function* readText(bytes: Buffer): AsyncGenerator<TextPage> {
  const text = new TextDecoder().decode(bytes)
  if (!isMail(text)) {
    yield { label: '', text }
    return
  }
  const { default: PostalMime } = await import('postal-mime')
  const { subject, from, to = [], text: body, html = '' } = await PostalMime.parse(bytes)
  const names = to.map(({ name, address = '' }) => `${name} ${address}`.trim())
  const sender = `${from?.name ?? ''} ${from?.address ?? ''}`.trim()
  yield {
    label: '',
    text: mailText({ subject, from: sender, to: names, text: body ?? html.replaceAll(/<[^>]*>/g, ' ') }),
  }
}

/** Whether a text begins like a message (RFC 5322): with header fields, a sender among them. */
function isMail(text: string): boolean {
  const head = text.slice(0, 64_000).split(/\r?\n\r?\n/, 1)[0] ?? ''
  const lines = head.split(/\r?\n/)
  return lines.length > 1 && lines.every((line) => /^(?:[\w-]+:|[ \t])/.test(line)) && /^from:/im.test(head)
}

interface Mail {
  readonly subject: string | undefined
  readonly from: string | undefined
  readonly to: readonly string[]
  readonly text: string | undefined
}

const mailText = ({ subject = '', from = '', to, text = '' }: Mail): string =>
  [`Subject: ${subject}`, `From: ${from}`, `To: ${to.join(', ')}`, '', text].join('\n')
