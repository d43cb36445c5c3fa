/**
 * The header Content-Disposition of a download (RFC 6266), with the title and the extension as a file name that every system
 * accepts, also in ASCII for old browsers.
 */
export function attachment(title: string, extension: string): string {
  return headerOf(nameOf(title), `.${extension}`, unnamed.letter)
}

/** The same for a file that has a name already. */
export function attachmentOf(fileName: string): string {
  const { stem, extension } = harmless(fileName)
  return headerOf(stem, extension, unnamed.document)
}

/** The names of files whose titles and names have no character that a file name can have. */
const unnamed = { letter: 'Letter', document: 'Document' } as const

/** A title as the name of a file, without an extension. */
export function nameOf(title: string): string {
  return shortened(title) || unnamed.letter
}

/** A file name as two parts that every system accepts: its stem, and its extension with the dot, or '' if it has none. */
export function harmless(fileName: string): { readonly stem: string; readonly extension: string } {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(fileName)?.[0] ?? ''
  return { stem: shortened(fileName.slice(0, fileName.length - extension.length)) || unnamed.document, extension }
}

function headerOf(name: string, extension: string, otherwise: string): string {
  const ascii = safe(name.normalize('NFKD').replaceAll(/[^\x20-\x7e]/g, '')).trim() || otherwise
  return `attachment; filename="${ascii}${extension}"; filename*=UTF-8''${encoded(name + extension)}`
}

const shortened = (title: string): string => safe(title).slice(0, 100).trim().toWellFormed()

/** Without the characters that a file system or a header gives a meaning, and without marks that are not visible. */
function safe(title: string): string {
  return title
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}"*/:<>?\\|%;]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^[. ]+|[. ]+$/g, '')
}

/** RFC 8187 section 3.2. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
