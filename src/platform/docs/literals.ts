import { isJsonObject } from '../text/json.ts'

/** Where the samples in JavaScript have their secrets. This service reads neither. */
export const nodeSecrets = { key: 'process.env.TOLLGATE_KEY', session: 'process.env.TOLLGATE_SESSION' } as const

/** How a language writes the values of JSON. */
interface Notation {
  readonly text: (value: string) => string
  readonly name: (value: string) => string
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>
  /** After the last part of a list or an object that takes several lines. */
  readonly end: string
  readonly indent: string
  /** Inside the braces of an object in one line. */
  readonly space: string
}

/** The longest list or object that is written in one line. */
const oneLine = 64

const quoted = (value: string) => JSON.stringify(value)
const singleQuoted = (value: string) =>
  /^[\x20-\x7e]*$/.test(value) && !/['\\]/.test(value) ? `'${value}'` : quoted(value)

const json: Notation = {
  text: quoted,
  name: quoted,
  words: { true: 'true', false: 'false', null: 'null' },
  end: '',
  indent: '  ',
  space: '',
}
const javascript: Notation = {
  ...json,
  text: singleQuoted,
  name: (value) => (/^[a-z_]\w*$/i.test(value) ? value : singleQuoted(value)),
  end: ',',
  space: ' ',
}
const python: Notation = { ...json, words: { true: 'True', false: 'False', null: 'None' }, end: ',', indent: '    ' }

/** Writes a JSON value for people. `margin` is the indentation of the line on which it begins. */
export const jsonText = (value: unknown, margin = ''): string => write(value, json, margin)

/** Writes a JSON value as an expression of JavaScript. */
export const javascriptText = (value: unknown, margin = ''): string => write(value, javascript, margin)

/** Writes a JSON value as an expression of Python. */
export const pythonText = (value: unknown, margin = ''): string => write(value, python, margin)

/** Writes the fields of an object as keyword arguments of Python, one on each line. */
export function pythonArguments(fields: object, margin: string): string {
  return Object.entries(fields)
    .map(([name, value]) => `${margin}${name}=${pythonText(value, margin)},\n`)
    .join('')
}

function write(value: unknown, notation: Notation, margin: string): string {
  const inner = margin + notation.indent
  if (Array.isArray(value)) {
    const parts = value.map((each: unknown) => write(each, notation, inner))
    return around('[', parts, ']', notation, margin)
  }
  if (isJsonObject(value)) {
    const parts = Object.entries(value).map(([name, each]) => `${notation.name(name)}: ${write(each, notation, inner)}`)
    const space = parts.length === 0 ? '' : notation.space
    return around(`{${space}`, parts, `${space}}`, notation, margin)
  }
  if (typeof value === 'string') return notation.text(value)
  if (typeof value === 'boolean' || value === null) return notation.words[`${value}`]
  return JSON.stringify(value)
}

function around(
  open: string,
  parts: readonly string[],
  close: string,
  { end, indent }: Notation,
  margin: string,
): string {
  const line = `${open}${parts.join(', ')}${close}`
  if (line.length <= oneLine && !line.includes('\n')) return line
  const lines = parts.map((part) => `${margin}${indent}${part}`).join(',\n')
  return `${open.trim()}\n${lines}${end}\n${margin}${close.trim()}`
}
