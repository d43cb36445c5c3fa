import { XmlDocument } from 'libxml2-wasm'
import {
  PdfReference,
  PdfStream,
  pdfText,
  readPdfObjects,
  type PdfDictionary,
  type PdfObjects,
  type PdfValue,
} from './pdf-objects.ts'

/**
 * The rules of PDF/A-3b (ISO 19005-3) that files break most often, and those of Factur-X for the embedded XML. Each fault has
 * the clause that it breaks. No validator is on npm, so these are our own words for the rules.
 */
export function pdfaFaults(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString('latin1')
  let objects: PdfObjects
  try {
    objects = readPdfObjects(bytes)
  } catch (error) {
    return [`6.1.4 ${error instanceof Error ? error.message : String(error)}`]
  }
  const catalog = objects.dictionary(objects.trailer.get('Root'))
  const file = { text, objects, catalog }
  return [outside, intent, graphics, fonts, actions, metadata, attachments].flatMap((rule) =>
    rule(file).flatMap(({ clause, holds }) => (holds ? [] : [clause])),
  )
}

interface File {
  readonly text: string
  readonly objects: PdfObjects
  readonly catalog: ReadonlyMap<string, PdfValue>
}
interface Rule {
  readonly clause: string
  readonly holds: boolean
}
const ofType = (values: readonly PdfValue[], type: string): PdfDictionary[] =>
  values.filter((each) => each instanceof Map).filter((each) => each.get('Type') === type)
const rule = (clause: string, holds: boolean): Rule => ({ clause, holds })

function outside({ text, objects: { trailer, list } }: File): Rule[] {
  const ids = list(trailer.get('ID'))
  return [
    rule('6.1.2 a header, and a comment of four bytes above 127', /^%PDF-1\.[1-7]\n%[\x80-\xff]{4}/.test(text)),
    rule('6.1.3 two ids of the file', ids.length === 2 && ids.every((id) => Buffer.isBuffer(id) && id.length >= 16)),
    rule('6.1.3 no encryption', !trailer.has('Encrypt')),
    rule('6.1.3 nothing after the end', /%%EOF\n?$/.test(text)),
  ]
}

/** The colours of the file are those of an RGB profile that is embedded. */
function intent({ objects, catalog }: File): Rule[] {
  const intents = objects.list(catalog.get('OutputIntents')).map((each) => objects.dictionary(each))
  const [first] = intents
  const profile = objects.resolve(first?.get('DestOutputProfile'))
  const icc = profile instanceof PdfStream ? profile.content : Buffer.alloc(0)
  return [
    rule('6.2.3 one output intent', intents.length === 1 && first?.get('S') === 'GTS_PDFA1'),
    rule('6.2.3 its condition', pdfText(first?.get('OutputConditionIdentifier') ?? null) !== ''),
    rule('6.2.3 an ICC profile', icc.toString('latin1', 36, 40) === 'acsp' && icc.length === icc.readUInt32BE(0)),
    rule('6.2.3 of a version up to 4, for RGB', Number(icc[8]) <= 4 && icc.toString('latin1', 16, 20) === 'RGB '),
    rule('6.2.3 with three components', profile instanceof PdfStream && profile.dictionary.get('N') === 3),
  ]
}

/** Content streams are those that have no type, or are forms. */
function graphics({ objects: { all } }: File): Rule[] {
  const values = [...all.values()]
  const states = ofType(values, 'ExtGState')
  const streams = values.filter((each) => each instanceof PdfStream)
  const drawn = streams.filter(
    ({ dictionary }) => !dictionary.has('Type') && !dictionary.has('Length1') && !dictionary.has('N'),
  )
  const operators = drawn.map(({ content }) =>
    content.toString('latin1').replaceAll(/\((?:\\[^]|[^\\)])*\)|<[^>]*>/g, ''),
  )
  return [
    rule(
      '6.1.7 no LZW',
      streams.every(({ dictionary }) => dictionary.get('Filter') !== 'LZWDecode'),
    ),
    rule(
      '6.1.7 no external streams',
      streams.every(({ dictionary }) => !dictionary.has('FFilter')),
    ),
    rule(
      '6.2.4 no colour beyond RGB and grey',
      operators.every((each) => !/(?:^|\s)[\d.]+ [kK]\s|DeviceCMYK/.test(each)),
    ),
    rule(
      '6.2.5 no transfer functions and halftones',
      states.every((each) => !each.has('TR') && !each.has('HT')),
    ),
    rule(
      '6.2.8 no interpolation',
      streams.every(({ dictionary }) => dictionary.get('Interpolate') !== true),
    ),
    rule(
      '6.2.9 no PostScript',
      streams.every(({ dictionary }) => dictionary.get('Subtype') !== 'PS'),
    ),
    rule(
      '6.2.10 only the normal blend mode',
      states.every((each) => (each.get('BM') ?? 'Normal') === 'Normal'),
    ),
  ]
}

/** Every font is embedded, and its characters have Unicode. */
function fonts({ objects }: File): Rule[] {
  const { all, list, dictionary, resolve } = objects
  const found = ofType([...all.values()], 'Font')
  const composite = found.filter((each) => each.get('Subtype') === 'Type0')
  const descendants = composite.flatMap((each) => list(each.get('DescendantFonts')).map((one) => dictionary(one)))
  const simple = found.filter((each) => each.get('Subtype') !== 'Type0' && !descendants.includes(each))
  const embedded = [...descendants, ...simple].map((each) => dictionary(each.get('FontDescriptor')))
  return [
    rule('6.2.11 fonts', found.length > 0 && descendants.length === composite.length),
    rule(
      '6.2.11.4 embedded fonts',
      embedded.every((each) =>
        ['FontFile', 'FontFile2', 'FontFile3'].some((key) => resolve(each.get(key)) instanceof PdfStream),
      ),
    ),
    rule(
      '6.2.11.3 the glyphs of TrueType',
      descendants.every((each) => each.get('Subtype') !== 'CIDFontType2' || each.get('CIDToGIDMap') === 'Identity'),
    ),
    rule(
      '6.2.11.7 the Unicode of characters',
      [...composite, ...simple].every((each) => resolve(each.get('ToUnicode')) instanceof PdfStream),
    ),
  ]
}

const isPrinted = (each: PdfDictionary) => (Number(each.get('F') ?? 0) & 4) !== 0
const forbiddenActions = ['JavaScript', 'Launch', 'Sound', 'Movie', 'ResetForm', 'ImportData', 'SubmitForm', 'Hide']

function actions({ objects: { all }, catalog }: File): Rule[] {
  const dictionaries = [...all.values()].filter((each) => each instanceof Map)
  return [
    rule(
      '6.3.2 annotations are printed',
      dictionaries.every((each) => each.get('Type') !== 'Annot' || isPrinted(each)),
    ),
    rule('6.4.2 no forms of XFA', !catalog.has('AcroForm')),
    rule(
      '6.5.1 no scripts',
      dictionaries.every((each) => forbiddenActions.every((action) => each.get('S') !== action)),
    ),
    rule('6.5.2 no triggered actions', dictionaries.every((each) => !each.has('AA')) && !catalog.has('OpenAction')),
  ]
}

const namespaces = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  dc: 'http://purl.org/dc/elements/1.1/',
  xmp: 'http://ns.adobe.com/xap/1.0/',
  pdf: 'http://ns.adobe.com/pdf/1.3/',
  pdfaid: 'http://www.aiim.org/pdfa/ns/id/',
  fx: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
  schema: 'http://www.aiim.org/pdfa/ns/schema#',
  property: 'http://www.aiim.org/pdfa/ns/property#',
}

/** The metadata is readable as it is, says the same as the dictionary of information, and declares the terms of Factur-X. */
function metadata({ text, objects, catalog }: File): Rule[] {
  const stream = objects.resolve(catalog.get('Metadata'))
  if (!(stream instanceof PdfStream)) return [rule('6.6.2 metadata', false)]
  const xmp = stream.raw.toString()
  using document = XmlDocument.fromString(xmp.replaceAll(/<\?xpacket[^]*?\?>/g, '').trim())
  const all = (path: string) => document.find(path, namespaces).map((node) => node.content.trim())
  const one = (path: string) => all(path)[0] ?? ''
  const info = objects.dictionary(objects.trailer.get('Info'))
  const same = (key: string, path: string) => !info.has(key) || pdfText(objects.resolve(info.get(key))) === one(path)
  const day = pdfText(objects.resolve(info.get('CreationDate')))
  const used = document.find('//fx:*', namespaces).map((node) => ('name' in node ? String(node.name) : ''))
  const { dictionary } = stream
  return [
    rule('6.6.2 not compressed', !dictionary.has('Filter') && dictionary.get('Subtype') === 'XML'),
    rule('6.6.2 no encoding in its header', /^\s*<\?xpacket begin="[^"]*" id="W5M0MpCehiHzreSzNTczkc9d"\?>/.test(xmp)),
    rule('6.6.4 part 3, level B', one('//pdfaid:part') === '3' && one('//pdfaid:conformance') === 'B'),
    rule('6.6.3 the title', same('Title', '//dc:title')),
    rule('6.6.3 the author', same('Author', '//dc:creator')),
    rule('6.6.3 the producer', same('Producer', '//pdf:Producer')),
    rule('6.6.3 the creator', same('Creator', '//xmp:CreatorTool')),
    rule(
      '6.6.3 the date',
      day.replaceAll(/\D/g, '').slice(0, 14) === one('//xmp:CreateDate').replaceAll(/\D/g, '').slice(0, 14),
    ),
    rule(
      '6.6.2 declared terms',
      used.every((name) => all('//property:name').includes(name)),
    ),
    rule(
      '6.6.2 of their namespace',
      used.length === 0 || (one('//schema:namespaceURI') === namespaces.fx && one('//schema:prefix') === 'fx'),
    ),
    rule('Factur-X the name of the XML', used.length === 0 || text.includes(`/F (${one('//fx:DocumentFileName')})`)),
  ]
}

/** The objects that are referred to. */
const numbers = (values: readonly PdfValue[]) =>
  values.flatMap((each) => (each instanceof PdfReference ? [each.number] : []))

function attachments({ objects, catalog }: File): Rule[] {
  const { all, dictionary, list } = objects
  const files = [...all].filter(([, value]) => value instanceof Map && value.get('Type') === 'Filespec')
  const listed = list(dictionary(dictionary(catalog.get('Names')).get('EmbeddedFiles')).get('Names'))
  const associated = numbers(list(catalog.get('AF')))
  const named = numbers(listed)
  return files.flatMap(([number, value]) => {
    const file = dictionary(value)
    const embedded = dictionary(dictionary(file.get('EF')).get('F'))
    const name = pdfText(file.get('F') ?? null)
    return [
      rule('6.8 its name, twice', name !== '' && pdfText(file.get('UF') ?? null) === name),
      rule('6.8 its relationship', file.get('AFRelationship') === 'Alternative'),
      rule('6.8 its association with the document', associated.includes(number) && named.includes(number)),
      rule('6.8 its type', embedded.get('Type') === 'EmbeddedFile' && embedded.get('Subtype') === 'text/xml'),
      rule('6.8 its date', /^D:\d{14}/.test(pdfText(dictionary(embedded.get('Params')).get('ModDate') ?? null))),
    ]
  })
}
