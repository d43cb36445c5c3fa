import { plainExcept } from './characters.ts'

/**
 * JSON (RFC 8259) without spaces between its tokens, except one after a colon or a comma: a small model can write spaces for
 * ever. Numbers have a bounded length, so that each is finite and an integer is exact. An escape never stands for half a
 * character.
 */
export const jsonRules = String.raw`value ::= object | array | string | number | boolean | null
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
