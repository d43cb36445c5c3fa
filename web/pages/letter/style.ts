import { contactLanguageNames } from '../../words.ts'

/** How a letter is to be written. Empty: as the instructions say. */
export interface Style {
  readonly language: string
  readonly tone: string
}

/** The languages to choose from, by name. */
export const languages: readonly string[] = Object.values(contactLanguageNames)

export const tones: readonly string[] = ['formal', 'friendly', 'plain and short']

const languageLine = (language: string) => `Write the letter in ${language}.`
const toneLine = (tone: string) => `Keep the tone ${tone}.`

/** Instructions that end with a line for each choice, as the model reads them and a later draft finds them. */
export function withStyle(text: string, { language, tone }: Style): string {
  const lines = [language && languageLine(language), tone && toneLine(tone)].filter((line) => line !== '')
  return lines.length === 0 ? text : [text.trimEnd(), '', ...lines].join('\n')
}

/** Takes instructions apart again. Lines that a person changed are part of the text. */
export function styleIn(instructions: string): { readonly text: string } & Style {
  const lines = instructions.split('\n')
  const take = (all: readonly string[], lineOf: (each: string) => string): string => {
    const found = all.find((each) => lineOf(each) === lines.at(-1)) ?? ''
    if (found !== '') lines.pop()
    return found
  }
  const tone = take(tones, toneLine)
  const language = take(languages, languageLine)
  const text = lines.join('\n')
  return { text: tone + language === '' ? text : text.trimEnd(), language, tone }
}
