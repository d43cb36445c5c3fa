const key = 'sign-in-email'

/** The address that the person typed last in this tab, so that they type it once. */
export function typedEmail(): string {
  try {
    return sessionStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

export function keepEmail(email: string): void {
  try {
    sessionStorage.setItem(key, email)
  } catch {
    // Without storage, it is typed again.
  }
}
