let asked: PromiseWithResolvers<boolean> | undefined
const listeners = new Set<() => void>()

/** Asks the person to confirm who they are, on top of the page. Resolves to whether they did. */
export function identityConfirmed(): Promise<boolean> {
  asked ??= Promise.withResolvers<boolean>()
  notify()
  return asked.promise
}

/** Ends the question, also when the person has signed in again in another tab. */
export function answerIdentity(isConfirmed: boolean): void {
  asked?.resolve(isConfirmed)
  asked = undefined
  notify()
}

export const isIdentityAsked = (): boolean => asked !== undefined

export function watchIdentity(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function notify(): void {
  for (const listener of listeners) listener()
}
