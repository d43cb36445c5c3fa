import { expression, type Expression } from './expression.ts'
import { plainExcept } from './characters.ts'

/**
 * JSON (RFC 8259) without spaces between its tokens, except one after a colon or a comma: a small model can write spaces for
 * ever. Numbers have a bounded length, so that each is finite and an integer is exact. An escape never stands for half a
 * character.
 */
const jsonRules = String.raw`value ::= object | array | string | number | boolean | null
object ::= "{" (member ("," space member)*)? "}"
member ::= string ":" space value
array ::= "[" (value ("," space value)*)? "]"
string ::= "\"" char* "\""
char ::= plain | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] hex | [dD] [0-7]) hex hex)
plain ::= ${plainExcept([])}
hex ::= [0-9a-fA-F]
number ::= "-"? unsigned
unsigned ::= natural fraction? ([eE] [-+]? [0-9]{1,2})?
fraction ::= "." [0-9]{1,15}
positive-fraction ::= "0." "0"{0,13} [1-9] [0-9]{0,14}
integer ::= "-"? natural
natural ::= "0" | [1-9] [0-9]{0,14}
boolean ::= "true" | "false"
null ::= "null"
space ::= " "?`

/** The rules of one grammar. */
export interface Rules {
  /** The name of a rule of this body. Equal bodies share a rule. */
  named(body: string): string
  /** Notes work on the schema that no rule shows. Throws if there is too much. */
  readonly work: (steps: number) => void
  /** From `least` to `most` repetitions of an expression; without a bound if `most` is undefined. */
  repeated(item: Expression, least: number, most?: number): Expression
  /** The grammar that begins with this expression. */
  grammar(root: string): string
}

/** llama.cpp writes out the places of a repetition. Longer repetitions are repetitions of groups of this many. */
const group = 64
/** At the end of each group, the next one may be complete or not, and that for two ways to write the longest. */
const groupedWidth = 4

const isName = /^[\w-]+$/

/** Work for each place that a grammar may have: a small schema can repeat itself without end in rules that are there already. */
const workPerPlace = 2

/** @param tooLarge the error to throw for a grammar of more places than `mostPlaces`, or one that takes too much work */
export function createRules(mostPlaces: number, tooLarge: () => Error): Rules {
  const names = new Map<string, string>()
  let places = 0
  let steps = 0

  function work(more: number): void {
    steps += more
    if (steps > workPerPlace * mostPlaces) throw tooLarge()
  }

  function spend(more: number): void {
    places += more
    if (places > mostPlaces) throw tooLarge()
  }

  function named(body: string): string {
    work(body.length)
    const known = names.get(body)
    if (known !== undefined) return known
    spend(body.length)
    const name = `r${names.size}`
    names.set(body, name)
    return name
  }

  function few(item: string, least: number, most: number): string {
    if (most === 0) return ''
    spend(most)
    return `${item}{${least},${most}}`
  }

  function exactly(item: string, count: number): string {
    if (count <= group) return few(item, count, count)
    const groups = exactly(named(few(item, group, group)), Math.floor(count / group))
    return `${groups} ${few(item, count % group, count % group)}`
  }

  function upTo(item: string, most: number): string {
    if (most <= group) return few(item, 0, most)
    const whole = named(few(item, group, group))
    const groups = Math.floor(most / group)
    const shorter = `${upTo(whole, groups - 1)} ${few(item, 0, group - 1)}`
    return `(${shorter} | ${exactly(whole, groups)} ${few(item, 0, most % group)})`
  }

  return {
    named,
    work,
    repeated({ text, width }, least, most) {
      const item = isName.test(text) ? text : named(text)
      const first = least === 0 ? '' : `${exactly(item, least)} `
      if (most === undefined) return expression(`${first}${item}*`, width)
      return expression(`${first}${upTo(item, most - least)}`, most - least > group ? groupedWidth * width : width)
    },
    grammar(root) {
      spend(root.length)
      const own = names.entries().map(([body, name]) => `${name} ::= ${body}`)
      return [`root ::= ${root}`, ...own, jsonRules].join('\n')
    },
  }
}
