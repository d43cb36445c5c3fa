/** RFC 9110 section 11.1: the scheme's name is case-insensitive, spaces separate it from the credentials. */
const bearer = /^bearer +(\S.*)$/i

/** What an Authorization header carries of the scheme Bearer; undefined where it is none. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
}
