import { Problem } from '../../problems.ts'

/** A piece of a part of `multipart/form-data` (RFC 7578). A part without content has one empty piece. */
export interface FormPiece {
  /** The name of the part. */
  readonly name: string
  /** Undefined for a part that is no file. */
  readonly fileName: string | undefined
  /** Whether its part begins with it. */
  readonly isFirst: boolean
  readonly bytes: Buffer
}

/** Bytes of the headers of a part. */
const mostHeaders = 8192
const headersEnd = Buffer.from('\r\n\r\n')

type State = 'preamble' | 'delimiter' | 'headers' | 'content' | 'end'

/** The boundary of a `multipart/form-data` body. Throws Problem `unsupported_media_type`. */
export function boundaryOf(contentType: string | undefined): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? plain
  if (boundary !== undefined) return boundary
  throw new Problem('unsupported_media_type', 'Send the file as multipart/form-data, with its boundary.')
}

/** Splits a body into the pieces of its parts, as it arrives. Throws Problem `malformed_request`. */
export function createFormSplitter(boundary: string) {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  let state: State = 'preamble'
  // The first delimiter has no line before it.
  let rest: Buffer = Buffer.from('\r\n')
  let part: Omit<FormPiece, 'bytes'> = { name: '', fileName: undefined, isFirst: true }

  /** Takes what precedes the next delimiter, or as much as can contain none of it. */
  function untilDelimiter(): { readonly bytes: Buffer; readonly isOver: boolean } {
    const at = rest.indexOf(delimiter)
    const end = at >= 0 ? at : Math.max(0, rest.length - delimiter.length + 1)
    const bytes = rest.subarray(0, end)
    rest = rest.subarray(at >= 0 ? end + delimiter.length : end)
    if (at >= 0) state = 'delimiter'
    return { bytes, isOver: at >= 0 }
  }
  /** What the delimiter ends: a part, or the body. False if too little has arrived. */
  function afterDelimiter(): boolean {
    if (rest.length < 2) return false
    if (rest.subarray(0, 2).toString() === '--') {
      state = 'end'
      return true
    }
    const line = rest.indexOf('\r\n')
    if (line < 0 && rest.length < mostHeaders) return false
    if (line < 0 || /[^ \t]/.test(rest.toString('latin1', 0, line))) throw malformed()
    // Kept, so that a part without headers has the end of headers, too.
    rest = rest.subarray(line)
    state = 'headers'
    return true
  }
  function headers(): boolean {
    const end = rest.indexOf(headersEnd)
    if (end > mostHeaders || (end < 0 && rest.length > mostHeaders)) throw malformed()
    if (end < 0) return false
    part = partOf(rest.toString('utf8', 0, end))
    rest = rest.subarray(end + headersEnd.length)
    // An empty content is followed by the delimiter at once.
    state = 'content'
    return true
  }

  return {
    push(chunk: Buffer): FormPiece[] {
      const pieces: FormPiece[] = []
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      for (;;) {
        if (state === 'end') {
          rest = Buffer.alloc(0)
          return pieces
        }
        if (state === 'preamble' || state === 'content') {
          const isContent = state === 'content'
          const { bytes, isOver } = untilDelimiter()
          if (isContent && (bytes.length > 0 || (isOver && part.isFirst))) {
            pieces.push({ ...part, bytes })
            part = { ...part, isFirst: false }
          }
          if (!isOver) return pieces
        } else if (!(state === 'delimiter' ? afterDelimiter() : headers())) return pieces
      }
    },
    /** Call it when the body has ended. Throws if that was not its end. */
    end(): void {
      if (state !== 'end') throw malformed()
    },
  }
}

function partOf(headers: string): Omit<FormPiece, 'bytes'> {
  const [, disposition = ''] = /^content-disposition:[ \t]*form-data[ \t]*(;.*)?$/im.exec(headers) ?? []
  const parameters = parametersIn(disposition)
  const name = parameters.get('name')
  if (name === undefined) throw malformed()
  return { name, fileName: parameters.get('filename'), isFirst: true }
}

/** A parameter at the beginning of what is left: its name, and its value as a quoted string or a token. */
const parameter = /;[ \t]*([^\s;="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[ \t]*/y

/** The parameters of a header, one after the other, each of which it has once. Throws Problem `malformed_request`. */
function parametersIn(header: string): Map<string, string> {
  const found = new Map<string, string>()
  const text = header.replace(/;[ \t]*$/, '')
  for (parameter.lastIndex = 0; parameter.lastIndex < text.length;) {
    const [, name = '', quoted, plain = ''] = parameter.exec(text) ?? []
    if (name === '' || found.has(name.toLowerCase())) throw malformed()
    found.set(name.toLowerCase(), unescaped(quoted ?? plain))
  }
  return found
}

/** Browsers escape quotes and line breaks with percent signs (WHATWG HTML, multipart form data), other programs quotes with a backslash (RFC 2183). */
const unescaped = (value: string): string =>
  value
    .replaceAll(/\\(["\\])/g, '$1')
    .replaceAll(/%(22|0D|0A)/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

const malformed = (): Problem =>
  new Problem('malformed_request', 'The body is not valid multipart/form-data, or broke off before its end.')
