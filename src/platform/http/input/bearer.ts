/** RFC 9110 section 11.1: the scheme's name is case-insensitive, spaces separate it from the credentials. */
const bearer = /^bearer +(\S.*)$/i

/** The token of an Authorization header with the scheme Bearer. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
}
