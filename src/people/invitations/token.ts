import { createHash, randomBytes } from 'node:crypto'

/** 256 random bits. */
export function newInvitationToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a token: with 256 random bits, it cannot be found by guessing. */
export function hashOfInvitation(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** The path of the page for a token. It is in the fragment, which no browser sends: it is in no log and in no Referer. */
export function invitationPath(token: string): string {
  return `/signin/invitation#${token}`
}
