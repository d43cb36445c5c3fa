/** Lets one step after the other pass when it is told, so that a test says what happens before what. */
export interface Gate {
  /** Resolves when this step, counted from 0, may be taken. */
  readonly pass: (step: number) => Promise<void>
  /** From now on so many steps may be taken; all of them unless told. */
  open(steps?: number): void
}

export function createGate(): Gate {
  let allowed = 0
  let changed = Promise.withResolvers<void>()
  async function pass(step: number): Promise<void> {
    if (step < allowed) return
    await changed.promise
    await pass(step)
  }
  return Object.freeze({
    pass,
    open(steps = Number.POSITIVE_INFINITY) {
      allowed = Math.max(allowed, steps)
      changed.resolve()
      changed = Promise.withResolvers<void>()
    },
  })
}
