/** The arguments of a call that arrive in pieces. */
export interface CallInput {
  readonly json: string
  add(piece: string): void
  /** Whether they are a whole JSON text. */
  isWhole(): boolean
}

/** Looks at each character once: arguments may be long, and the question is asked with every piece that follows them. */
export function createCallInput(): CallInput {
  let json = ''
  let depth = 0
  let isInString = false
  let isEscaped = false

  function look(character: string): void {
    if (isEscaped) isEscaped = false
    else if (isInString && character === '\\') isEscaped = true
    else if (character === '"') isInString = !isInString
    else if (isInString) return
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }

  return {
    get json() {
      return json
    },
    add(piece) {
      json += piece
      for (const character of piece) look(character)
    },
    isWhole: () => depth === 0 && !isInString && isJson(json),
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
