import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSync, type Font } from 'fontkit'
import pdfmake from 'pdfmake'

/** The files of a font, by its look. */
interface FontFiles {
  readonly normal: string
  readonly italics: string
  readonly bold: string
  readonly bolditalics: string
}

const file = (place: string) => fileURLToPath(import.meta.resolve(place))
const serif = (look: string) => file(`@expo-google-fonts/source-serif-4/${look}/SourceSerif4_${look}.ttf`)

/** The other scripts have no italics. */
const upright = (normal: string, bold: string): FontFiles => ({ normal, italics: normal, bold, bolditalics: bold })

function noto(family: string): FontFiles {
  const name = `Noto${family.replaceAll(' ', '')}`
  const folder = `noto-${family.toLowerCase().replaceAll(' ', '-')}`
  const of = (look: string) => file(`@expo-google-fonts/${folder}/${look}/${name}_${look}.ttf`)
  return upright(of('400Regular'), of('700Bold'))
}

function eastAsian(script: string, name: string): FontFiles {
  const of = (look: string) =>
    path.join(path.dirname(file(`@embedpdf/fonts-${script}`)), '..', 'fonts', `${name}-${look}.otf`)
  return upright(of('Regular'), of('Bold'))
}

/** The font of letters and invoices. Its four files have the same characters. */
const main = 'Serif'
/** Its spaces are very wide. */
const emoji = 'Emoji'

const scripts = [
  'Hebrew',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Armenian',
  'Georgian',
  'Ethiopic',
  'Symbols',
]

/** The fonts by name, in the order in which they are tried for a character. */
const families: Readonly<Record<string, FontFiles>> = {
  [main]: {
    normal: serif('400Regular'),
    italics: serif('400Regular_Italic'),
    bold: serif('600SemiBold'),
    bolditalics: serif('600SemiBold_Italic'),
  },
  ...Object.fromEntries(
    ['Sans', 'Naskh Arabic', ...scripts.map((script) => `Sans ${script}`)].map((family) => [family, noto(family)]),
  ),
  Chinese: eastAsian('sc', 'NotoSansHans'),
  Korean: eastAsian('kr', 'NotoSansKR'),
  [emoji]: noto(emoji),
}

const files = new Set(Object.values(families).flatMap((each) => Object.values<string>({ ...each })))

pdfmake.setFonts(families)
pdfmake.setUrlAccessPolicy(() => false)
pdfmake.setLocalAccessPolicy((name) => files.has(name))

const opened = new Map<string, Font>()

function open(name: string): Font {
  const font = opened.get(name) ?? openSync(families[name]?.normal ?? '')
  opened.set(name, font)
  return font
}

const has = (name: string, character: string) => open(name).hasGlyphForCodePoint(character.codePointAt(0) ?? 0)

/** Spaces and marks of all scripts. */
const isShared = /^(?!\p{N})[\p{Script=Common}\p{Script=Inherited}]$/u

const found = new Map<string, string | undefined>()

/** The font for a character: the one before it for what all scripts share, such as spaces; undefined if none has it. */
export function fontFor(character: string, before = main): string | undefined {
  if (isShared.test(character) && before !== emoji && has(before, character)) return before
  if (!found.has(character))
    found.set(
      character,
      Object.keys(families).find((name) => has(name, character)),
    )
  return found.get(character)
}

export const isInMainFont = (text: string): boolean =>
  Array.from(text).every((character) => character === '\n' || has(main, character))

/** The width of a text in points. */
export function widthIn(text: string, font: string | undefined, size: number): number {
  const { unitsPerEm } = open(font ?? main)
  return (open(font ?? main).layout(text).advanceWidth / unitsPerEm) * size
}

/** The features that place marks. Some fonts leave out places, at which fontkit throws. */
const withoutPlaces = { mark: false, mkmk: false, abvm: false, blwm: false }

/** The features of a font to turn off, so that a text can be laid out; undefined for none. */
export function featuresOff(text: string, font: string): typeof withoutPlaces | undefined {
  try {
    for (const word of text.split(/(?<=\s)/)) open(font).layout(word)
    return undefined
  } catch {
    return withoutPlaces
  }
}
