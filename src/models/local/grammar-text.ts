/** The kinds of JSON value that a grammar can begin with. */
export type Primitive = 'object'

/** A text as a literal of a grammar. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\\n\r\t]/g, (character) => escapes[character] ?? character)}"`
}

const escapes: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * JSON (RFC 8259) without spaces before or between its tokens, except one after a colon or a comma: a small model can write
 * spaces for ever. Characters are listed, not excluded: bytes that are no character would pass an exclusion. Numbers are bounded so that each is finite. An escape never stands for half a character.
 */
const json = String.raw`
value ::= object | array | string | number | boolean | null
object ::= "{" (member ("," space member)*)? "}"
member ::= string ":" space value
array ::= "[" (value ("," space value)*)? "]"
string ::= "\"" char* "\""
char ::= [ !#-\[\]-~\u0080-\uD7FF\uE000-\U0010FFFF] | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] hex | [dD] [0-7]) hex hex)
hex ::= [0-9a-fA-F]
number ::= "-"? unsigned
unsigned ::= natural ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
integer ::= "-"? natural
natural ::= "0" | positive
positive ::= [1-9] [0-9]{0,14}
boolean ::= "true" | "false"
null ::= "null"
space ::= " "?`

/** The rules of JSON, with `root` as the rule to begin with if it is given. */
export function primitives(root?: Primitive): string {
  return root === undefined ? json.trim() : `root ::= ${root}${json}`
}
